import Foundation

/// What a module offers to apps, one line for each symbol, the members of a type below it and further to the right.
///
/// A line has what matters to the source of an app: whether the symbol is deprecated, whether a delegate has to have
/// it, who may call and override it, the whole declaration, and for a type what it inherits from and conforms to. What
/// follows from the rest is left out, such as that an option set is equatable.
struct SymbolGraph: Decodable {
    private let symbols: [Symbol]
    private let relationships: [Relationship]

    private struct Symbol: Decodable {
        struct Identifier: Decodable { let precise: String }
        struct Kind: Decodable { let identifier: String }
        struct Fragment: Decodable { let spelling: String }
        struct Availability: Decodable { let isUnconditionallyDeprecated: Bool? }

        let identifier: Identifier
        let kind: Kind
        let pathComponents: [String]
        let declarationFragments: [Fragment]
        let accessLevel: String
        let availability: [Availability]?

        var isType: Bool { ["swift.class", "swift.struct", "swift.enum", "swift.protocol"].contains(kind.identifier) }
        /// Whether the symbol belongs to a module that is extended here, such as the `!=` of every enum.
        var isForeign: Bool { identifier.precise.contains("::SYNTHESIZED::") }
        var parent: String { pathComponents.dropLast().joined(separator: ".") }
        var isDeprecated: Bool { availability?.contains { $0.isUnconditionallyDeprecated == true } ?? false }

        var declaration: String {
            declarationFragments.map(\.spelling).joined()
                .replacing("@discardableResult ", with: "").replacing(" { get set }", with: "")
        }
    }

    private struct Relationship: Decodable {
        let kind: String
        let source: String
        let target: String
        let targetFallback: String?
    }

    /// The lines, in any order, each with its type in front of it.
    func lines() -> Set<String> {
        let names = Dictionary(
            symbols.map { ($0.identifier.precise, $0.pathComponents.joined(separator: ".")) },
            uniquingKeysWith: { first, _ in first }
        )
        var parents: [String: String] = [:]
        var conformances: [String: Set<String>] = [:]
        var requirements: Set<String> = [], defaults: Set<String> = [], optional: Set<String> = []
        for relationship in relationships {
            let target = names[relationship.target] ?? relationship.targetFallback ?? relationship.target
            let name = String(target.split(separator: ".").last ?? "")
            switch relationship.kind {
            case "inheritsFrom": parents[relationship.source] = name
            case "conformsTo": conformances[relationship.source, default: []].insert(name)
            case "requirementOf": requirements.insert(relationship.source)
            case "defaultImplementationOf":
                defaults.insert(relationship.source)
                optional.insert(relationship.target)
            default: break
            }
        }
        let lines = symbols.filter { !$0.isForeign && !defaults.contains($0.identifier.precise) }.map { symbol in
            let identifier = symbol.identifier.precise
            var line = symbol.isDeprecated ? "deprecated " : ""
            if requirements.contains(identifier) {
                line += optional.contains(identifier) ? "optional " : "required "
            } else if symbol.kind.identifier != "swift.enum.case" {
                line += symbol.accessLevel + " "
            }
            line += symbol.declaration
            if symbol.isType, symbol.kind.identifier != "swift.protocol" {
                var own = Self.essential(conformances[identifier] ?? [], of: symbol.kind.identifier)
                if let parent = parents[identifier] {
                    let inherited = symbols.first { $0.pathComponents == [parent] }
                    own.subtract(inherited.flatMap { conformances[$0.identifier.precise] } ?? [])
                    line += ": " + ([parent] + own.sorted()).joined(separator: ", ")
                } else if !own.isEmpty {
                    line += ": " + own.sorted().joined(separator: ", ")
                }
            }
            return "\(symbol.parent) > \(line)"
        }
        return Set(lines)
    }

    /// Leaves out what follows from the rest.
    private static func essential(_ conformances: Set<String>, of kind: String) -> Set<String> {
        var rest = conformances.subtracting(["SendableMetatype", "Copyable", "Escapable"])
        if kind == "swift.class" {
            rest.subtract([
                "NSObjectProtocol", "Equatable", "Hashable", "CustomStringConvertible", "CustomDebugStringConvertible",
                "CVarArg", "_CVarArgObject",
                // Classes that come from Objective-C do not say so; apps promise it for them.
                "Sendable",
            ])
        }
        if kind == "swift.enum" { rest.remove("CustomDebugStringConvertible") }
        if rest.contains("Hashable") { rest.remove("Equatable") }
        if rest.contains("OptionSet") {
            rest.subtract(["SetAlgebra", "RawRepresentable", "Equatable", "ExpressibleByArrayLiteral"])
        }
        if rest.contains("CustomNSError") { rest.remove("Error") }
        return rest
    }
}

/// The file that says what the symbol graph shall be.
struct ExpectedSymbols {
    /// What Apple's framework has, each with its type in front of it.
    private(set) var theirs: Set<String> = []
    /// What is public besides: marked with `+` in the file.
    private(set) var ours: Set<String> = []
    /// How many lines there are for Apple's.
    private(set) var count = 0

    init(_ text: String) {
        var types: [Substring] = []
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            let indented = line.drop { $0 == " " }
            types.removeLast(max(0, types.count - (line.count - indented.count) / 4))
            let isOurs = indented.hasPrefix("+ ")
            let declaration = isOurs ? indented.dropFirst(2) : indented
            let symbol = "\(types.joined(separator: ".")) > \(declaration)"
            if isOurs { ours.insert(symbol) } else { theirs.insert(symbol) }
            if !isOurs { count += 1 }
            let words = declaration.split { " :<".contains($0) }
            let keyword = words.firstIndex { ["class", "struct", "enum", "protocol"].contains($0) }
            types.append(keyword.flatMap { $0 + 1 < words.count ? words[$0 + 1] : nil } ?? "")
        }
    }
}
