//! Validation of the kinds of `__ApiVersion__`.

use ::kubesmith_runtime::validation::SchemaValidator;

__kinds__! {}
