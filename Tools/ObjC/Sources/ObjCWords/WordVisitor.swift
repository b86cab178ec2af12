import SwiftSyntax

/// A visitor that rewrites the words of one file.
///
/// Attributes become blanks. Selectors, observations, protocols with optional methods, and overrides in extensions are
/// rewritten by extensions of this class.
final class WordVisitor: SyntaxVisitor {
    /// The attributes that only have a meaning for Objective-C and for Xcode.
    private static let attributes: Set<String> = [
        "objc", "objcMembers", "nonobjc", "NSCopying", "IBOutlet", "IBAction", "IBInspectable", "IBDesignable",
        "IBSegueAction", "GKInspectable",
    ]

    let path: String
    let source: [UInt8]
    let index: ModuleIndex
    let converter: SourceLocationConverter
    var edits = Edits()
    var findings: [Finding] = []
    /// The declarations that have to move into classes, with the name of each class.
    var moves: [(type: String, declaration: String)] = []
    /// The number of selectors that have a declaration after the last line.
    var selectorCount = 0

    init(path: String, source: [UInt8], tree: SourceFileSyntax, index: ModuleIndex) {
        self.path = path
        self.source = source
        self.index = index
        converter = SourceLocationConverter(fileName: path, tree: tree)
        super.init(viewMode: .sourceAccurate)
    }

    /// Reports a word; each word is reported once.
    func report(_ word: String, at node: some SyntaxProtocol, left reason: String? = nil) {
        let location = node.startLocation(converter: converter)
        let outcome = reason.map { Finding.Outcome.left(reason: $0) } ?? .rewritten
        findings.append(Finding(word: word, line: location.line, column: location.column, outcome: outcome))
    }

    func line(of node: some SyntaxProtocol) -> Int { node.startLocation(converter: converter).line }

    /// A directive by which the lines after it have the numbers of lines in a source file.
    func directive(line: Int) -> String {
        let literal = path.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        return "#sourceLocation(file: \"\(literal)\", line: \(line))\n"
    }

    override func visit(_ node: AttributeSyntax) -> SyntaxVisitorContinueKind {
        if Self.attributes.contains(node.name) {
            report("@" + node.name, at: node)
            edits.blank(node.octets, of: source)
            return .skipChildren
        }
        if node.name == "convention", node.arguments?.trimmedDescription.hasPrefix("block") == true {
            report("@convention(block)", at: node)
            edits.blank(node.octets, of: source)
        } else if node.name == "NSManaged" {
            report("@NSManaged", at: node, left: "Linux has no Core Data")
        }
        return .skipChildren
    }

    override func visit(_ node: DeclModifierSyntax) -> SyntaxVisitorContinueKind {
        if node.name.text == "dynamic" {
            report("dynamic", at: node, left: obstacle(to: node))
            edits.blank(node.octets, of: source)
        }
        return .skipChildren
    }

    override func visit(_ node: VariableDeclSyntax) -> SyntaxVisitorContinueKind {
        makeObservable(node)
        return .visitChildren
    }

    override func visit(_ node: MacroExpansionExprSyntax) -> SyntaxVisitorContinueKind {
        switch node.macroName.text {
        case "selector":
            rewriteSelector(node)
            return .skipChildren
        case "keyPath":
            rewriteKeyPath(node)
            return .skipChildren
        default: return .visitChildren
        }
    }

    override func visit(_ node: FunctionCallExprSyntax) -> SyntaxVisitorContinueKind {
        guard let name = node.calledExpression.as(MemberAccessExprSyntax.self)?.declName.baseName.text else {
            let called = node.calledExpression.trimmedDescription
            if called == "observe" { rewriteObservation(node, named: called) }
            if ["Selector", "NSSelectorFromString"].contains(called), !node.arguments.isEmpty {
                report(called, at: node, left: "a selector made from a string calls no method")
            }
            return .visitChildren
        }
        let labels = node.arguments.map { $0.label?.text ?? "" }
        switch name {
        case "value" where labels == ["forKey"], "setValue" where labels == ["", "forKey"]:
            report("\(name)(forKey:)", at: node, left: "key-value coding needs the Objective-C runtime")
        case "observe": rewriteObservation(node, named: name)
        case "publisher" where labels.first == "for": rewriteObservation(node, named: name)
        case "addObserver" where labels.contains("forKeyPath"):
            report("addObserver", at: node, left: "observing by name needs the Objective-C runtime")
        default: break
        }
        return .visitChildren
    }

    override func visit(_ node: MemberAccessExprSyntax) -> SyntaxVisitorContinueKind {
        let name = node.declName.baseName.text
        if index.isOptional(name), node.declName.argumentNames == nil, node.isUncalled {
            report(name, at: node.declName, left: "an optional method is never nil here; only its result can be")
        }
        return .visitChildren
    }

    override func visit(_ node: ProtocolDeclSyntax) -> SyntaxVisitorContinueKind {
        if !node.attributes.named(["objc"]).isEmpty { rewriteProtocol(node) }
        return .visitChildren
    }

    override func visit(_ node: ExtensionDeclSyntax) -> SyntaxVisitorContinueKind {
        moveOverrides(in: node)
        return .visitChildren
    }

    /// Replaces `#keyPath(Lamp.isOn)` with a text, `"isOn"`.
    private func rewriteKeyPath(_ node: MacroExpansionExprSyntax) {
        let parts = (node.arguments.first?.expression.trimmedDescription ?? "").split(separator: ".")
        let names = parts.drop { $0 == "self" || $0.first?.isUppercase == true }
        guard !names.isEmpty, node.octets.count >= names.joined(separator: ".").utf8.count + 2 else { return }
        report("#keyPath", at: node)
        edits.replace(node.octets, with: "\"\(names.joined(separator: "."))\"")
    }
}

extension MemberAccessExprSyntax {
    /// True if the member is compared with `nil` or bound to a name, instead of being called.
    fileprivate var isUncalled: Bool {
        guard base != nil, let parent else { return false }
        if let next = parent.as(ExprListSyntax.self)?.dropFirst(1).first {
            return ["!=", "=="].contains(next.trimmedDescription)
        }
        return parent.is(InitializerClauseSyntax.self) && parent.parent?.is(OptionalBindingConditionSyntax.self) == true
    }
}
