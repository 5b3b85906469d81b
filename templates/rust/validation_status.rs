impl __root__::validations::ValidateStatus for __Object__ {}
