import SwiftSyntax

/// The declarations of a module's files that decide how words in other places are rewritten.
struct ModuleIndex {
    /// A method of a class.
    struct Method: Hashable {
        let labels: [String]
        /// The name for Objective-C, as in `tick:`.
        let selector: String
        let isStatic: Bool
    }

    /// A class declaration.
    struct ClassPlace {
        let file: Int
        /// The position of the brace that ends its members.
        let end: Int
        let isGeneric: Bool
    }

    private var methods: [String: [String: Set<Method>]] = [:]
    private var classes: [String: ClassPlace] = [:]
    private var optionalNames: Set<String> = []

    init(_ trees: [SourceFileSyntax]) {
        for (file, tree) in trees.enumerated() {
            let visitor = DeclarationVisitor(file: file)
            visitor.walk(tree)
            for (name, method, base) in visitor.methods {
                methods[name, default: [:]][base, default: []].insert(method)
            }
            for (name, place) in visitor.classes where classes[name] == nil { classes[name] = place }
            optionalNames.formUnion(visitor.optionalNames)
        }
    }

    /// Returns the place of a class of this module.
    func place(of name: String) -> ClassPlace? { classes[name] }

    /// Returns the methods of a type, in its declaration and its extensions, with a base name.
    func methods(of type: String, named base: String) -> Set<Method> { methods[type]?[base] ?? [] }

    /// True if the module has a method with this base name in one of its types.
    func declares(_ base: String) -> Bool { methods.values.contains { $0[base] != nil } }

    /// True if a protocol of the module has an optional method with this base name.
    func isOptional(_ base: String) -> Bool { optionalNames.contains(base) }
}

/// A visitor that collects the declarations of one file.
private final class DeclarationVisitor: SyntaxVisitor {
    private let file: Int
    var methods: [(type: String, method: ModuleIndex.Method, base: String)] = []
    var classes: [(name: String, place: ModuleIndex.ClassPlace)] = []
    var optionalNames: Set<String> = []

    init(file: Int) {
        self.file = file
        super.init(viewMode: .sourceAccurate)
    }

    override func visit(_ node: ClassDeclSyntax) -> SyntaxVisitorContinueKind {
        // The initializer gives the type around a node; the class itself is that of its members.
        if let type = EnclosingType(of: node.memberBlock) {
            let place = ModuleIndex.ClassPlace(
                file: file,
                end: node.memberBlock.rightBrace.positionAfterSkippingLeadingTrivia.utf8Offset,
                isGeneric: type.isGeneric
            )
            classes.append((type.name, place))
        }
        return .visitChildren
    }

    override func visit(_ node: FunctionDeclSyntax) -> SyntaxVisitorContinueKind {
        guard let type = EnclosingType(of: node) else { return .visitChildren }
        let labels = node.signature.parameterClause.parameters.map(\.firstName.text)
        let explicit = node.attributes.named(["objc"]).first?.arguments?.trimmedDescription
        let method = ModuleIndex.Method(
            labels: labels,
            selector: explicit ?? selectorName(base: node.name.text, labels: labels),
            isStatic: node.modifiers.contains { ["static", "class"].contains($0.name.text) }
        )
        methods.append((type.name, method, node.name.text))
        if node.modifiers.contains(where: { $0.name.text == "optional" }) { optionalNames.insert(node.name.text) }
        return .visitChildren
    }
}

/// Returns the name that Objective-C gives to a method of Swift, as in `tick:` for `tick(_:)`.
func selectorName(base: String, labels: [String]) -> String {
    let prepositions = ["at", "by", "for", "from", "in", "of", "on", "to", "using", "with"]
    var name = base.filter { $0 != "`" }
    for (index, label) in labels.enumerated() {
        let part = label == "_" ? "" : label.filter { $0 != "`" }
        if index == 0, !part.isEmpty {
            let isPreposition = prepositions.contains { word in
                part.hasPrefix(word) && part.dropFirst(word.count).first.map { $0.isUppercase } != false
            }
            name += isPreposition ? "" : "With"
            name += part.prefix(1).uppercased() + part.dropFirst()
        } else {
            name += part
        }
        name += ":"
    }
    return name
}
