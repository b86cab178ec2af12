import Testing

/// A line that breaks a rule.
struct Finding: Equatable, Sendable {
    let line: Int
    let complaint: String
}

/// Something that a program can check about a file by itself.
struct Rule: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// Whether a file at this path has to keep the rule.
    let applies: @Sendable (_ path: String) -> Bool
    let findings: @Sendable (SourceFile) -> [Finding]
    /// Texts that break the rule, to show that it sees.
    let caught: [String]
    /// Texts that look alike and are right.
    let allowed: [String]
    /// Where a text must stand for the rule to look at it.
    let example: String

    init(
        _ description: String,
        in example: String,
        applies: @escaping @Sendable (_ path: String) -> Bool,
        caught: [String],
        allowed: [String] = [],
        findings: @escaping @Sendable (SourceFile) -> [Finding]
    ) {
        testDescription = description
        self.applies = applies
        self.findings = findings
        self.caught = caught
        self.allowed = allowed
        self.example = example
    }

    /// A rule that forbids sequences of tokens.
    init(
        _ description: String,
        in example: String,
        applies: @escaping @Sendable (_ path: String) -> Bool,
        forbids patterns: [[String]],
        allowed: [String] = []
    ) {
        self.init(
            description,
            in: example,
            applies: applies,
            caught: patterns.map { $0.joined(separator: " ").replacing(" !", with: "!") },
            allowed: allowed
        ) { file in
            patterns.flatMap { pattern in
                file.positions(of: pattern).map { position in
                    Finding(line: file.tokens[position].line, complaint: "`\(pattern.joined())`")
                }
            }
        }
    }

    static let all = cores + sources + files + words
}

/// Modules that hold values only: bytes, requests and time in; bytes, events and a deadline out.
let coreModules = ["BLEWire", "BLECrypto", "BLEHost", "BLEController", "BLESession"]

@Sendable func isCore(_ path: String) -> Bool {
    path.hasSuffix(".swift") && coreModules.contains { path.hasPrefix("Sources/\($0)/") }
}

@Sendable func isSource(_ path: String) -> Bool {
    path.hasSuffix(".swift") && (path.hasPrefix("Sources/") || path.hasPrefix("Benchmarks/"))
}

@Sendable func isSwift(_ path: String) -> Bool { path.hasSuffix(".swift") }
