import Testing

/// Says which statements of `docs/BEHAVIOUR.md` a test is about.
///
/// `TidyTests` holds the document and the tests to each other.
struct Behaviour: TestTrait, SuiteTrait {
    /// The identifiers of the statements, as they stand in the document.
    let statements: [String]
}

extension Trait where Self == Behaviour {
    /// The test shows that these statements hold.
    static func behaviour(_ statements: String...) -> Self { Behaviour(statements: statements) }
}
