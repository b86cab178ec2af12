import SwiftSyntax

extension WordVisitor {
    /// Replaces `#selector(tick)` with the name of a property that has a `Selector` with the method.
    ///
    /// The property is declared after the last line, in an extension of the type around the word, so that private
    /// methods can be named. Where no extension can name the type, the `Selector` is made in place.
    func rewriteSelector(_ node: MacroExpansionExprSyntax) {
        guard let type = EnclosingType(of: node), let argument = node.arguments.first, node.arguments.count == 1 else {
            return report("#selector", at: node, left: "it is not inside a class")
        }
        guard argument.label == nil else {
            return report("#selector", at: node, left: "getters and setters have no selectors here")
        }
        guard let method = SelectedMethod(argument.expression, in: type.name) else {
            return report("#selector", at: node, left: "it does not name a method of a class")
        }
        let candidates = index.methods(of: method.type, named: method.base).filter { candidate in
            method.labels == nil || candidate.labels == method.labels
        }
        let isClassMethod = !candidates.isEmpty && candidates.allSatisfy(\.isStatic)
        let fallback = method.labels.map { selectorName(base: method.base, labels: $0) } ?? method.base
        let name = candidates.count == 1 ? candidates.first?.selector ?? fallback : fallback
        let label = isClassMethod ? "classMethod: " : ""
        let selector = "Selector(\"\(name)\", \(label)\(method.type).\(method.reference))"
        report("#selector", at: node)
        let property = "_selector\(selectorCount + 1)", member = "_selectedMethod\(selectorCount + 1)"
        guard type.isNameable, !type.isGeneric, property.utf8.count <= node.octets.count, !isMultiline(node) else {
            return edits.substitute(node.octets, with: selector)
        }
        selectorCount += 1
        edits.replace(node.octets, with: property)
        let declarations = """
            extension \(type.name) {
            \(directive(line: line(of: node)))nonisolated fileprivate static var \(member): Selector { \(selector) }
            }
            fileprivate var \(property): Selector { \(type.name).\(member) }

            """
        edits.append(Syntax(node).conditional(declarations))
    }

    private func isMultiline(_ node: some SyntaxProtocol) -> Bool { source[node.octets].contains(0x0A) }
}

/// The method that `#selector` names.
private struct SelectedMethod {
    /// The name of the class.
    let type: String
    /// The method as it is written, without the class.
    let reference: String
    let base: String
    /// The labels of the parameters; `nil` if they are left out.
    let labels: [String]?

    init?(_ expression: ExprSyntax, in enclosingType: String) {
        let name: DeclReferenceExprSyntax
        if let reference = expression.as(DeclReferenceExprSyntax.self) {
            (type, name) = (enclosingType, reference)
        } else if let member = expression.as(MemberAccessExprSyntax.self), let owner = member.base?.trimmedDescription {
            let isType = owner.split(separator: ".").allSatisfy { $0.first?.isUppercase == true }
            guard isType || owner == "self" else { return nil }
            type = ["self", "Self"].contains(owner) ? enclosingType : owner
            name = member.declName
        } else {
            return nil
        }
        base = name.baseName.text
        labels = name.argumentNames?.arguments.map { $0.name.text }
        reference = name.trimmedDescription
    }
}
