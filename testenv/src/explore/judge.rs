//! Judges the outcome of a step.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::Duration;

use serde_json::{Value, json};

use super::oracle::Failure;
use super::run::{Expected, Run, RunPurpose, Seen};
use super::sim::{Show, Step, View};
use super::state::{Mask, State, TOUCHED, normalise, scrub};
use super::steps::is_custom;
use super::watches::Held;
use super::world::target;

/// The time without writes after which a step without faults has settled: longer than operators' resync periods.
const QUIET: Duration = Duration::from_secs(11 * 60);
/// As [`QUIET`], when the objects are known to be as wanted.
pub(super) const QUIET_AS_WANTED: Duration = Duration::from_secs(30);
/// The time for which a write may be refused in a row before it is judged.
const QUIET_REFUSED: Duration = Duration::from_secs(30 * 60);
/// The time for which objects may differ without a write: longer than the longest pause of client-go's rate limiter,
/// 1000 s.
const PATIENCE: Duration = Duration::from_secs(20 * 60);

/// The objects at a version, in a step.
pub(super) struct Observation {
    version: u64,
    step: usize,
    outside: Vec<Value>,
    all: Vec<((String, String), Value)>,
    state: State,
    /// The differences to the expected objects.
    differences: Vec<String>,
}

/// Returns an outside system as an object to compare.
fn system(((name, _), value): (&(String, Show), &Value)) -> Value {
    json!({"kind": "Outside", "metadata": {"name": name}, "status": value})
}

/// Returns the kind and the name of an object.
pub(super) fn shown(object: &Value) -> String {
    let text = |key: &str| object["metadata"][key].as_str().unwrap_or_default();
    let name = format!("{}/{}", text("namespace"), text("name"));
    format!("{} {}", object["kind"].as_str().unwrap_or_default(), name.trim_start_matches('/'))
}

/// Reports whether a label, an annotation or an owner reference names an object.
fn refers_to(metadata: &Value, name: &str) -> bool {
    let maps = [&metadata["labels"], &metadata["annotations"]];
    let mut values = maps.into_iter().filter_map(Value::as_object).flat_map(serde_json::Map::values);
    values.any(|value| value.as_str() == Some(name))
}

/// Reports whether an object is a CronJob's: the time of the run decides how many there are.
fn is_scheduled(object: &Value) -> bool {
    let owners = object["metadata"]["ownerReferences"].as_array();
    owners.is_some_and(|owners| owners.iter().any(|owner| owner["kind"] == "CronJob"))
}

/// Returns the part of a state with these objects.
fn with(state: &State, which: impl Fn(&str) -> bool) -> State {
    let objects = state.iter().filter(|(key, _)| which(key));
    objects.map(|(key, fields)| (key.clone(), fields.clone())).collect()
}

impl Run<'_> {
    /// Returns the time without writes after which the step has settled.
    pub(super) fn quiet_needed(&mut self) -> Duration {
        let Some(expected) = self.options.purpose.expected() else {
            return if matches!(self.options.purpose, RunPurpose::Scout) { QUIET_AS_WANTED } else { QUIET };
        };
        if self.history && expected.depends_on_history {
            return QUIET;
        }
        if self.world.has_strangers {
            // The objects will differ, and the operator may try again for ever.
            return QUIET_AS_WANTED;
        }
        let is_judged = matches!(self.options.purpose, RunPurpose::Judge(_));
        match self.look().differences.is_empty() {
            true if self.world.rates.is_refused(self.world.now) => QUIET_REFUSED,
            true if self.world.is_held(|held| matches!(held, Held::Until(_))) => QUIET,
            // An operator that repeats its work in pauses may undo then what is as wanted now.
            true if is_judged && self.world.step + 1 == self.world.spec.steps.len() => {
                expected.pause_of_requests.map_or(QUIET_AS_WANTED, |pause| QUIET_AS_WANTED.max(2 * pause))
            }
            true => QUIET_AS_WANTED,
            false if is_judged => PATIENCE,
            false => QUIET,
        }
    }

    /// Returns the current objects.
    fn look(&mut self) -> Rc<Observation> {
        let (version, step) = (self.world.cluster.objects().version(), self.world.step);
        let outside = self.world.outside();
        let is_same =
            |look: &&Rc<Observation>| (look.version, look.step, &look.outside) == (version, step, &outside);
        if let Some(look) = self.look.as_ref().filter(is_same) {
            return look.clone();
        }
        let all = self.world.cluster.state(self.options.resources);
        // The server's controllers write the status of built-in kinds.
        let spec = &self.world.spec;
        let objects = all.iter().map(|((group, resource), object)| (object, spec.is_custom(group, resource)));
        let objects = objects.filter(|(object, _)| !is_scheduled(object));
        let systems: Vec<Value> = self.world.spec.outside.iter().zip(&outside).map(system).collect();
        let state = normalise(objects.chain(systems.iter().map(|system| (system, true))), &self.world.names);
        let expected = self.options.purpose.expected();
        // An operator may restore an object that a user removed, but need not.
        let again = self.options.plan.again;
        let users = self.world.spec.steps.len();
        // An operator that has seen neither an object nor its removal cannot restore it.
        let is_unseen = again && self.history && step == users;
        let differences = expected.filter(|_| !is_unseen).and_then(|Expected { mask, states, .. }| {
            let wanted = states.get(step)?;
            // An operator that never saw an object that is deleted now has made nothing for it.
            let known = self.states.last().filter(|_| self.history && self.deletes);
            let made;
            let wanted = match known {
                Some(known) => {
                    made = with(wanted, |key| state.contains_key(key) || known.contains_key(key));
                    &made
                }
                None => wanted,
            };
            let before = match step.checked_sub(users) {
                Some(0) if again => states[..step].last(),
                // Objects without an owner may have been made after the removal.
                Some(1) if again => states.last(),
                _ => None,
            };
            let nearest = before.map(|before| mask.nearest(wanted, before, &state));
            let wanted = nearest.as_ref().unwrap_or(wanted);
            Some(if self.pods_failed {
                mask.missing(wanted, &state)
            } else {
                mask.differences(wanted, &state)
            })
        });
        let differences = differences.unwrap_or_default();
        let look = Rc::new(Observation { version, step, outside, all, state, differences });
        self.look = Some(look.clone());
        look
    }

    /// Reports whether a fault may change the state for good, as an object of another controller does.
    pub(super) fn is_disturbed(&self) -> bool {
        self.jumped || self.world.has_strangers || self.world.has_skipped_webhooks
    }

    /// Compares the outcome of the step with that without faults.
    pub(super) fn judge(&mut self) {
        if self.world.failure.is_some() {
            return;
        }
        let look = self.look();
        let is_disturbed = self.is_disturbed();
        if let Some(failure) = self.world.rates.refused().filter(|_| !is_disturbed) {
            self.world.fail(failure);
        }
        if let Some(stuck) = self.stuck(&look).filter(|_| !self.world.has_strangers) {
            self.world.fail(stuck);
        }
        if let Some(lost) = self.lost_edit() {
            self.world.fail(lost);
        }
        let is_comparable = !self.waits_for_next_step();
        if let RunPurpose::Judge(expected) = self.options.purpose
            && is_comparable
            && !is_disturbed
            && !(self.history && expected.depends_on_history)
        {
            if !look.differences.is_empty() {
                let after = format!("after step {}", self.world.step + 1);
                self.world.fail(Failure::State { after, differences: look.differences.clone() });
            } else if let Some(destroyed) =
                self.destroyed(expected).filter(|_| !self.history && !self.pods_failed)
            {
                self.world.fail(Failure::Destroyed(destroyed));
            }
        }
        self.states.push(look.state.clone());
        self.objects.push(Seen {
            present: self.present(&look),
            deleted: self.world.deleted.clone(),
            replaced: self.replaced(&look.state, &Mask::default()),
        });
    }

    /// Returns the existing objects.
    fn present(&self, look: &Observation) -> BTreeSet<String> {
        let targets = look.all.iter().map(|((group, resource), object)| {
            let text = |key: &str| object["metadata"][key].as_str().unwrap_or_default();
            scrub(&target(group, resource, text("namespace"), text("name")), &self.world.names)
        });
        targets.chain(self.world.entries()).collect()
    }

    /// Returns an object that an operator deleted although it is wanted, and not (or, for an operator that sees the
    /// past, less often) deleted without faults.
    fn destroyed(&self, expected: &Expected) -> Option<String> {
        let seen = expected.objects.get(self.world.step)?;
        let is_stale = self.world.fired.iter().any(|fault| fault.contains("-stale"));
        let is_wrong = |(target, times): &(&String, &usize)| {
            let usual = seen.deleted.get(*target).copied().unwrap_or_default();
            seen.present.contains(*target) && **times > usual && (usual == 0 || is_stale)
        };
        let wrong = self.world.deleted.iter().find(is_wrong).map(|(target, _)| target.clone());
        wrong.or_else(|| {
            let wanted = expected.states.get(self.world.step)?;
            self.replaced(wanted, &expected.mask).into_iter().find(|key| !seen.replaced.contains(key))
        })
    }

    /// Returns the objects that operators deleted in this step although they were as wanted. Surplus objects with
    /// generated names may be so, too.
    fn replaced(&self, wanted: &State, mask: &Mask) -> BTreeSet<String> {
        let names = &self.world.names;
        let named = self.world.doomed.iter().filter(|(object, _)| {
            object["metadata"]["name"].as_str().is_some_and(|name| !names.contains_key(name))
        });
        let states = named.map(|(object, with_status)| normalise([(object, *with_status)], names));
        let as_wanted = states.filter(|state| {
            let wanted = with(wanted, |key| state.contains_key(key) && mask.shows(key));
            !wanted.is_empty() && mask.differences(&wanted, state).is_empty()
        });
        as_wanted.flat_map(State::into_keys).collect()
    }

    /// Returns a terminating custom resource that a finalizer keeps.
    fn stuck(&self, look: &Observation) -> Option<Failure> {
        if self.waits_for_next_step() {
            return None;
        }
        let spec = &self.world.spec;
        let custom = look.all.iter().filter(|((group, resource), _)| spec.is_custom(group, resource));
        custom
            .map(|(_, object)| &object["metadata"])
            .find(|metadata| !metadata["deletionTimestamp"].is_null())
            .map(|metadata| {
                Failure::Stuck(format!(
                    "{} waits for the finalizers {}",
                    metadata["name"], metadata["finalizers"]
                ))
            })
    }

    /// Returns an edit of an object that users apply, if an operator has overwritten it.
    fn lost_edit(&mut self) -> Option<Failure> {
        let world = &self.world;
        let lost = world.touched.iter().find(|(path, uid)| {
            let Some(object) = world.cluster.get(path) else { return false };
            let metadata = &object["metadata"];
            metadata["uid"] == uid.as_str() && metadata["annotations"][TOUCHED].is_null()
        });
        lost.map(|(path, _)| Failure::EditLost(path.clone()))
    }

    /// Returns what operators made for the deleted custom resources and that still exists: objects, by name or
    /// reference, and entries of outside systems.
    pub(super) fn leaks(&mut self) -> Option<Failure> {
        let world = &self.world;
        let applied = world.spec.steps.iter().filter_map(|step| match step {
            Step::Apply(all) => Some(all.iter()),
            Step::Delete(_) | Step::RemoveMade => None,
        });
        let (custom, others): (Vec<&Value>, Vec<&Value>) =
            applied.flatten().partition(|object| is_custom(object, &world.spec, &world.cluster));
        let roots: BTreeSet<&str> =
            custom.into_iter().filter_map(|object| object["metadata"]["name"].as_str()).collect();
        let pods = (String::new(), "pods".to_owned());
        let made: BTreeSet<(String, String)> = world.made.values().cloned().chain([pods]).collect();
        // Jobs leave their pods behind without an owner, if the operator deletes them without a policy.
        let is_orphan = |resource: &str, object: &Value| {
            let metadata = &object["metadata"];
            let is_applied = others.iter().any(|other| shown(other) == shown(object));
            let is_alone = metadata["ownerReferences"].is_null() && metadata["deletionTimestamp"].is_null();
            resource == "pods" && is_alone && !is_applied
        };
        let left = world.cluster.state(&made).into_iter().filter_map(|((group, resource), object)| {
            let metadata = &object["metadata"];
            let text = |key: &str| metadata[key].as_str().unwrap_or_default();
            let target = scrub(&target(&group, &resource, text("namespace"), text("name")), &world.names);
            let is_of = |root: &&str| text("name").contains(*root) || refers_to(metadata, root);
            let keeps_data = resource == "persistentvolumeclaims";
            let is_made = world.made.contains_key(&target) || is_orphan(&resource, &object);
            (!keeps_data && is_made && roots.iter().any(is_of)).then_some(target)
        });
        // Other objects that users apply stay, and so may their entries.
        let is_left = |entry: &String| others.is_empty() || roots.iter().any(|root| entry.contains(root));
        let marks = others.iter().filter_map(|object| self.mark_on(object, &others, &roots));
        let left: BTreeSet<String> =
            left.chain(self.entries_of_steps().filter(is_left)).chain(marks).collect();
        let taken = others.iter().filter(|object| self.is_taken(object));
        let taken: BTreeSet<String> = taken.map(|object| shown(object)).collect();
        match (left.is_empty(), taken.is_empty()) {
            (true, true) => None,
            (true, false) => Some(Failure::Taken(Vec::from_iter(taken))),
            (false, _) => Some(Failure::Leaked(Vec::from_iter(left))),
        }
    }

    /// Returns a user's object with a label or an annotation that names a deleted custom resource, unless a user has set it.
    fn mark_on(&self, one: &Value, applied: &[&Value], roots: &BTreeSet<&str>) -> Option<String> {
        let object = self.world.cluster.get(&self.world.cluster.objects().path(one).ok()?)?;
        let forms = applied.iter().filter(|other| shown(other) == shown(one));
        let is_set = |root: &str| forms.clone().any(|form| refers_to(&form["metadata"], root));
        let root = roots.iter().find(|root| refers_to(&object["metadata"], root) && !is_set(root))?;
        Some(format!("the mark of {root} on {}", shown(one)))
    }

    /// Reports whether a user's object was there before the last deletion of custom resources, and is not any more. Pods and
    /// jobs come to an end by themselves.
    fn is_taken(&self, applied: &Value) -> bool {
        let world = &self.world;
        let Some((group, resource)) = world.cluster.resource_of(applied) else { return false };
        let text = |key: &str| applied["metadata"][key].as_str().unwrap_or_default();
        let target = scrub(&target(&group, &resource, text("namespace"), text("name")), &world.names);
        let before = self.objects.iter().rev().nth(1);
        !matches!(resource.as_str(), "pods" | "jobs")
            && applied["metadata"]["ownerReferences"].is_null()
            && before.is_some_and(|seen| seen.present.contains(&target))
            && world.cluster.objects().path(applied).is_ok_and(|path| world.cluster.get(&path).is_none())
    }

    /// Returns the compared entries of outside systems that were not there before the first step.
    fn entries_of_steps(&self) -> impl Iterator<Item = String> {
        let spec = &self.world.spec;
        let is_ignored = |entry: &str| {
            let path = entry.replace(' ', ".");
            spec.ignored.iter().filter(|(kind, _)| kind == "Outside").any(|(_, field)| {
                let below = field.strip_prefix("status").unwrap_or(field);
                spec.outside.iter().any(|(name, _)| {
                    let rest = path.strip_prefix(&format!("Outside.{}{below}", name.replace(' ', ".")));
                    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
                })
            })
        };
        let new = self.world.entries().into_iter().filter(|entry| !self.world.first_entries.contains(entry));
        new.filter(move |entry| !is_ignored(entry))
    }

    pub(super) fn check_end(&mut self) {
        // While a stranger has a child's name, the operator cannot meet the check.
        if self.waits_for_next_step() || self.world.has_strangers {
            return;
        }
        let view = View::new(self.world.cluster.objects().clone());
        let checks = self.world.spec.eventually.clone();
        let found = super::panics::ignoring(|| checks.iter().find_map(|check| check(&view).err()));
        if let Some(text) = found {
            self.world.fail(Failure::Eventually(text));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn job_of_a_cron_job_is_not_compared() {
        let job =
            |owner: &str| json!({"metadata": {"ownerReferences": [{"kind": owner, "controller": true}]}});
        assert!(is_scheduled(&job("CronJob")) && !is_scheduled(&job("Widget")));
        assert!(!is_scheduled(&json!({"metadata": {}})));
    }
}
