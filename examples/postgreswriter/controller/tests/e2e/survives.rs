//! The operator in a simulation, in front of a model of its database, with crashes, late watches and lost answers.

use std::collections::{BTreeMap, BTreeSet};
use std::future::pending;
use std::time::Duration;

use kubesmith_runtime::kube::Client;
use kubesmith_runtime::manager::Manager;
use kubesmith_testenv::{Explore, Outside, OutsideError};
use postgreswriter_api::v1::PostgresWriter;
use postgreswriter_controller::add_controller;
use postgreswriter_controller::database::{DatabaseError, Rows, Written};
use postgreswriter_controller::row::{Row, Table};

/// The tables that there are, each with what its rows hold.
type Tables = BTreeMap<String, BTreeMap<String, (String, i32, String)>>;

#[derive(Clone)]
struct Model(Outside<Tables>);

fn broken(error: &OutsideError) -> DatabaseError {
    DatabaseError::Unreachable(error.to_string())
}

impl Rows for Model {
    async fn probe(&self, table: &Table) -> Result<(), DatabaseError> {
        let name = table.name().to_owned();
        let call = self.0.call(&format!("probe {name}"), move |tables| tables.contains_key(&name)).await;
        match call.map_err(|error| broken(&error))? {
            true => Ok(()),
            false => Err(DatabaseError::NoTable(table.clone())),
        }
    }

    async fn write(
        &self,
        table: &Table,
        row: &Row,
        leave: &[Table],
        may_insert: bool,
    ) -> Result<Written, DatabaseError> {
        let (name, row) = (table.name().to_owned(), row.clone());
        let leave: BTreeSet<String> = leave.iter().map(|table| table.name().to_owned()).collect();
        let transaction = move |tables: &mut Tables| {
            let rows = tables.get_mut(&name)?;
            let values = (row.name, row.age, row.country);
            let written = match rows.get(&row.id) {
                None if !may_insert => return Some(Written::Missing),
                None => Written::Inserted,
                Some(found) if *found == values => Written::Unchanged,
                Some(_) => Written::Updated,
            };
            rows.insert(row.id.clone(), values);
            for left in leave {
                tables.get_mut(&left).map(|rows| rows.remove(&row.id));
            }
            Some(written)
        };
        let call = self.0.call(&format!("write {}", table.name()), transaction).await;
        call.map_err(|error| broken(&error))?.ok_or_else(|| DatabaseError::NoTable(table.clone()))
    }

    async fn delete(&self, tables: &[Table], id: &str) -> Result<(), DatabaseError> {
        let names: BTreeSet<String> = tables.iter().map(|table| table.name().to_owned()).collect();
        let id = id.to_owned();
        let transaction = move |tables: &mut Tables| {
            for (_, rows) in tables.iter_mut().filter(|(name, _)| names.contains(*name)) {
                rows.remove(&id);
            }
        };
        self.0.call("delete", transaction).await.map_err(|error| broken(&error))
    }
}

async fn operator(client: Client, database: Model) -> anyhow::Result<()> {
    let mut manager = Manager::builder(client).build();
    add_controller(&mut manager, database, 2, Duration::from_secs(120))?;
    Ok(manager.run(pending()).await?)
}

#[test]
fn operator_survives_crashes_and_late_watches() {
    let explored = Explore::new("postgreswriter").schedules(200).run(|sim| async move {
        sim.crds("../config/crd/bases");
        // The tables that the object is moved between, beside one that is not there.
        let tables = ["students", "students2"].map(|name| (name.to_owned(), BTreeMap::new()));
        let database = Model(sim.outside("database", Tables::from(tables)));
        sim.operator(move |client| operator(client, database.clone()));
        sim.apply("../config/samples/demo_v1_postgreswriter.yaml");
        sim.vary::<PostgresWriter>();
    });
    match explored {
        Ok(report) => println!("{report}"),
        Err(failed) => panic!("{failed}"),
    }
}
