//! Conversions through the generated functions, by the scheme and by the webhook's dispatch on a server.

use std::collections::{BTreeMap, BTreeSet};

use case_conversions::{Address, Slot, v1, v1alpha1, v1beta1};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kubesmith_expected::conversions::clientset::scheme::scheme;
use kubesmith_expected::conversions::conversions::post::{letter, pallet, parcel, waybill};
use kubesmith_runtime::conversion::{ConversionError, RoundTrip};
use kubesmith_runtime::scheme::{ConvertError, Scheme};
use pallet::ConversionFuncs as _;
use parcel::ConversionFuncs;

/// What cannot be derived; what an older version cannot say is kept in an annotation.
#[derive(Clone)]
struct Funcs;

const INSURED: &str = "post.example.com/insured";

fn side(size: &str, at: usize) -> Result<i64, ConversionError> {
    let side =
        size.split('x').nth(at).ok_or_else(|| ConversionError::new(format!("{size:?} is no size: 3x4")))?;
    Ok(side.parse()?)
}

impl ConversionFuncs for Funcs {
    fn convert_v1alpha1_parcel_spec_to_v1_parcel_spec_width(
        &self,
        input: &v1alpha1::ParcelSpec,
    ) -> Result<i64, ConversionError> {
        side(&input.size, 0)
    }

    fn convert_v1alpha1_parcel_spec_to_v1_parcel_spec_height(
        &self,
        input: &v1alpha1::ParcelSpec,
    ) -> Result<i64, ConversionError> {
        side(&input.size, 1)
    }

    fn convert_v1_parcel_spec_to_v1alpha1_parcel_spec_size(
        &self,
        input: &v1::ParcelSpec,
    ) -> Result<String, ConversionError> {
        Ok(format!("{}x{}", input.width, input.height))
    }

    fn finish_v1_parcel_spec_to_v1beta1_parcel_spec(
        &self,
        _: &v1::ParcelSpec,
        _: &mut v1beta1::ParcelSpec,
    ) -> Result<(), ConversionError> {
        Ok(())
    }

    fn convert_v1_parcel_to_v1beta1_parcel(
        &self,
        input: &v1::Parcel,
    ) -> Result<v1beta1::Parcel, ConversionError> {
        let mut output = parcel::auto_convert_v1_parcel_to_v1beta1_parcel(self, input)?;
        if let Some(insured) = input.spec.insured {
            let annotations = output.metadata.annotations.get_or_insert_default();
            annotations.insert(INSURED.to_owned(), insured.to_string());
        }
        Ok(output)
    }

    fn convert_v1beta1_parcel_to_v1_parcel(
        &self,
        input: &v1beta1::Parcel,
    ) -> Result<v1::Parcel, ConversionError> {
        let mut output = parcel::auto_convert_v1beta1_parcel_to_v1_parcel(self, input)?;
        if let Some(annotations) = &mut output.metadata.annotations {
            output.spec.insured = annotations.remove(INSURED).map(|insured| insured.parse()).transpose()?;
        }
        output.metadata.annotations =
            output.metadata.annotations.filter(|annotations| !annotations.is_empty());
        Ok(output)
    }
}

fn everything() -> v1::Parcel {
    let stamp = |price: i64| v1::Stamp { price };
    let address = Address { street: "High Street".to_owned() };
    let stop = v1::Stop { address: address.clone(), stamps: vec![stamp(5)] };
    let mut parcel = v1::Parcel::default();
    parcel.metadata.name = Some("a".to_owned());
    parcel.spec = v1::ParcelSpec {
        width: 3,
        height: 4,
        floor: 2,
        r#type: Some("box".to_owned()),
        stamps: vec![stamp(1), stamp(2)],
        stops: Some([("first".to_owned(), Box::new(stop))].into()),
        state: v1::State::There,
        payment: Some(v1::Payment::Stamp(stamp(9))),
        address,
        insured: Some(true),
    };
    parcel
}

fn converting() -> Scheme {
    let mut scheme = scheme();
    parcel::register_conversions(&mut scheme, &Funcs);
    letter::register_conversions(&mut scheme, &());
    scheme
}

#[test]
fn equal_fields_are_converted_and_others_by_hand_written_functions() {
    let old = Funcs.convert_v1_parcel_to_v1alpha1_parcel(&everything()).unwrap();
    assert_eq!((old.spec.size.as_str(), old.spec.floor, old.spec.state), ("3x4", 2, v1alpha1::State::There));
    assert_eq!(old.spec.stops.as_ref().unwrap()["first"].stamps, [v1alpha1::Stamp { price: 5 }]);
    assert_eq!(old.spec.payment, Some(v1alpha1::Payment::Stamp(v1alpha1::Stamp { price: 9 })));
    let bad = v1alpha1::ParcelSpec { size: "big".to_owned(), ..old.spec };
    let error = Funcs.convert_v1alpha1_parcel_spec_to_v1_parcel_spec(&bad).unwrap_err();
    assert_eq!(error.to_string(), "invalid digit found in string");
}

#[test]
fn round_trip_loses_only_declared_fields() {
    let beta = RoundTrip::new(
        |hub: &v1::Parcel| Funcs.convert_v1_parcel_to_v1beta1_parcel(hub),
        |beta: &v1beta1::Parcel| Funcs.convert_v1beta1_parcel_to_v1_parcel(beta),
    );
    assert_eq!(beta.check(&everything()), Ok(()));
    let alpha = RoundTrip::new(
        |hub: &v1::Parcel| Funcs.convert_v1_parcel_to_v1alpha1_parcel(hub),
        |alpha: &v1alpha1::Parcel| Funcs.convert_v1alpha1_parcel_to_v1_parcel(alpha),
    );
    let lost = alpha.check(&everything()).unwrap_err();
    assert_eq!(lost.to_string(), "spec.insured: it was true and came back as null");
    assert_eq!(alpha.losing("spec.insured").check(&everything()), Ok(()));
}

#[test]
fn scheme_converts_between_any_two_versions() {
    let scheme = converting();
    let alpha = scheme.convert_to_version(&everything(), "v1alpha1").unwrap();
    let beta: v1beta1::Parcel = scheme.convert(&*alpha).unwrap();
    assert_eq!((beta.spec.width, beta.metadata.name.as_deref()), (3, Some("a")));
    let letter = v1beta1::Letter::default();
    assert_eq!(scheme.convert::<v1::Letter>(&letter).unwrap(), v1::Letter::default());
    let error = scheme.convert_to_version(&letter, "v1alpha1").unwrap_err();
    assert!(matches!(error, ConvertError::Unknown { .. }), "{error}");
}

/// What only looks alike: keys that are types of their own, an alias of another container, a type that may get more fields.
struct ByHand;

impl pallet::ConversionFuncs for ByHand {
    fn convert_v1beta1_pallet_spec_to_v1_pallet_spec_shelves(
        &self,
        input: &v1beta1::PalletSpec,
    ) -> Result<BTreeMap<v1::Shelf, i64>, ConversionError> {
        let shelf = |shelf| match shelf {
            v1beta1::Shelf::Upper => v1::Shelf::Upper,
            v1beta1::Shelf::Lower => v1::Shelf::Lower,
        };
        Ok(input.shelves.iter().map(|(key, held)| (shelf(*key), *held)).collect())
    }

    fn convert_v1_pallet_spec_to_v1beta1_pallet_spec_shelves(
        &self,
        input: &v1::PalletSpec,
    ) -> Result<BTreeMap<v1beta1::Shelf, i64>, ConversionError> {
        let shelf = |shelf| match shelf {
            v1::Shelf::Upper => v1beta1::Shelf::Upper,
            v1::Shelf::Lower => v1beta1::Shelf::Lower,
        };
        Ok(input.shelves.iter().map(|(key, held)| (shelf(*key), *held)).collect())
    }

    fn convert_v1beta1_pallet_spec_to_v1_pallet_spec_words(
        &self,
        input: &v1beta1::PalletSpec,
    ) -> Result<Vec<String>, ConversionError> {
        Ok(input.words.iter().cloned().collect())
    }

    fn convert_v1_pallet_spec_to_v1beta1_pallet_spec_words(
        &self,
        input: &v1::PalletSpec,
    ) -> Result<BTreeSet<String>, ConversionError> {
        Ok(input.words.iter().cloned().collect())
    }

    fn convert_v1beta1_label_to_v1_label(
        &self,
        input: &v1beta1::Label,
    ) -> Result<v1::Label, ConversionError> {
        Ok(v1::Label::new(input.text.clone()))
    }

    fn convert_v1_label_to_v1beta1_label(
        &self,
        input: &v1::Label,
    ) -> Result<v1beta1::Label, ConversionError> {
        Ok(v1beta1::Label::new(input.text.clone()))
    }
}

#[test]
fn fields_with_one_name_but_other_types_are_converted_by_hand() {
    let stamp = |price: i64| v1::Stamp { price };
    let loads = [
        v1::Load::Nothing,
        v1::Load::One(Box::new(stamp(1))),
        v1::Load::Named([(Slot::Back, vec![stamp(2), stamp(3)])].into()),
        v1::Load::Special { stamp: stamp(4), funcs: Some(5), input: Slot::Front },
    ];
    let trip = RoundTrip::new(
        |hub: &v1::Pallet| ByHand.convert_v1_pallet_to_v1beta1_pallet(hub),
        |beta: &v1beta1::Pallet| ByHand.convert_v1beta1_pallet_to_v1_pallet(beta),
    );
    for load in loads {
        let spec = v1::PalletSpec {
            slots: [(Slot::Front, stamp(6))].into(),
            shelves: [(v1::Shelf::Lower, 7)].into(),
            sheet: vec![stamp(8)],
            words: vec!["a".to_owned(), "b".to_owned()],
            load,
            label: v1::Label::new("fragile".to_owned()),
            gate: IntOrString::String("west".to_owned()),
        };
        let pallet = v1::Pallet { spec, ..v1::Pallet::default() };
        assert_eq!(trip.check(&pallet), Ok(()));
    }
}

/// Waybills are stored as v1alpha1, and converted to and from v1.
#[derive(Clone)]
struct Numbers;

impl waybill::ConversionFuncs for Numbers {
    fn convert_v1alpha1_waybill_spec_to_v1_waybill_spec_number(
        &self,
        input: &v1alpha1::WaybillSpec,
    ) -> Result<i64, ConversionError> {
        Ok(input.number.parse()?)
    }

    fn convert_v1_waybill_spec_to_v1alpha1_waybill_spec_number(
        &self,
        input: &v1::WaybillSpec,
    ) -> Result<String, ConversionError> {
        Ok(input.number.to_string())
    }

    fn convert_v1beta1_waybill_spec_to_v1_waybill_spec_number(
        &self,
        input: &v1beta1::WaybillSpec,
    ) -> Result<i64, ConversionError> {
        Ok(input.number.into())
    }

    fn convert_v1_waybill_spec_to_v1beta1_waybill_spec_number(
        &self,
        input: &v1::WaybillSpec,
    ) -> Result<i32, ConversionError> {
        Ok(i32::try_from(input.number)?)
    }
}

#[test]
fn hub_is_the_version_with_the_hub_attribute() {
    let mut scheme = scheme();
    waybill::register_conversions(&mut scheme, &Numbers);
    let mut stored = v1alpha1::Waybill::default();
    stored.metadata.name = Some("a".to_owned());
    stored.spec.number = "7".to_owned();
    let beta: v1beta1::Waybill = scheme.convert(&stored).unwrap();
    assert_eq!((beta.spec.number, beta.metadata.name.as_deref()), (7, Some("a")));
    let back: v1alpha1::Waybill = scheme.convert(&beta).unwrap();
    assert_eq!(back, stored);
}
