import SwiftSyntax

/// The type in whose declaration or extension a node stands.
struct EnclosingType {
    /// The name with the names of outer types, as in `Outer.Inner`.
    let name: String
    /// The declaration or the extension.
    let node: Syntax
    /// True if an extension at the end of the file can name the type: it is not inside a function, and no outer type
    /// keeps it private.
    let isNameable: Bool
    /// True if the type or an outer one has type parameters.
    let isGeneric: Bool

    /// Finds the innermost type around a node, if there is one.
    init?(of node: some SyntaxProtocol) {
        var names: [String] = [], innermost: Syntax?, isNameable = true, isGeneric = false, isPrivateInside = false
        var current = Syntax(node).parent
        while let node = current {
            current = node.parent
            if let type = TypeDeclaration(node) {
                isNameable = isNameable && !isPrivateInside
                names.insert(type.name, at: 0)
                if innermost == nil { innermost = node }
                isGeneric = isGeneric || type.isGeneric
                isPrivateInside = type.isPrivate
                continue
            }
            if innermost != nil { isNameable = isNameable && !node.isBody }
        }
        guard let innermost else { return nil }
        self.name = names.joined(separator: ".")
        self.node = innermost
        self.isNameable = isNameable
        self.isGeneric = isGeneric
    }
}

/// The parts of a declaration of a type, or of an extension, that the rewriter needs.
struct TypeDeclaration {
    let name: String
    let modifiers: DeclModifierListSyntax
    let attributes: AttributeListSyntax
    let inheritance: InheritanceClauseSyntax?
    let members: MemberBlockSyntax
    let isGeneric: Bool

    var isPrivate: Bool { modifiers.contains { $0.name.tokenKind == .keyword(.private) } }

    init?(_ node: Syntax) {
        if let type = node.as(ClassDeclSyntax.self) {
            self.init(type, type.name, type.inheritanceClause, isGeneric: type.genericParameterClause != nil)
        } else if let type = node.as(StructDeclSyntax.self) {
            self.init(type, type.name, type.inheritanceClause, isGeneric: type.genericParameterClause != nil)
        } else if let type = node.as(EnumDeclSyntax.self) {
            self.init(type, type.name, type.inheritanceClause, isGeneric: type.genericParameterClause != nil)
        } else if let type = node.as(ActorDeclSyntax.self) {
            self.init(type, type.name, type.inheritanceClause, isGeneric: type.genericParameterClause != nil)
        } else if let type = node.as(ProtocolDeclSyntax.self) {
            self.init(type, type.name, type.inheritanceClause, isGeneric: false)
        } else if let type = node.as(ExtensionDeclSyntax.self) {
            self.init(type, type.extendedType, type.inheritanceClause, isGeneric: type.genericWhereClause != nil)
        } else {
            return nil
        }
    }

    private init(
        _ node: some DeclGroupSyntax,
        _ name: some SyntaxProtocol,
        _ inheritance: InheritanceClauseSyntax?,
        isGeneric: Bool
    ) {
        self.name = name.trimmedDescription
        modifiers = node.modifiers
        attributes = node.attributes
        self.inheritance = inheritance
        members = node.memberBlock
        self.isGeneric = isGeneric
    }
}

extension Syntax {
    /// True for the body of a function, a property or a closure.
    fileprivate var isBody: Bool {
        self.is(CodeBlockSyntax.self) || self.is(ClosureExprSyntax.self) || self.is(AccessorBlockSyntax.self)
    }

    /// The conditions of the `#if` blocks around a node, outer ones first.
    var conditions: [String] {
        var conditions: [String] = []
        var current = parent
        while let node = current {
            if let clause = node.as(IfConfigClauseSyntax.self),
                let list = clause.parent?.as(IfConfigClauseListSyntax.self)
            {
                var terms: [String] = []
                for other in list {
                    let condition = other.condition.map { "(\($0.trimmedDescription))" }
                    if other.id == clause.id {
                        if let condition { terms.append(condition) }
                        break
                    }
                    if let condition { terms.append("!\(condition)") }
                }
                conditions.insert(terms.joined(separator: " && "), at: 0)
            }
            current = node.parent
        }
        return conditions.filter { !$0.isEmpty }
    }

    /// Returns declarations within the `#if` blocks that are around this node.
    func conditional(_ declarations: String) -> String {
        conditions.map { "#if \($0)\n" }.joined() + declarations + conditions.map { _ in "#endif\n" }.joined()
    }
}

extension AttributeListSyntax {
    /// The attributes with these names.
    func named(_ names: Set<String>) -> [AttributeSyntax] {
        compactMap { element in
            guard case .attribute(let attribute) = element, names.contains(attribute.name) else { return nil }
            return attribute
        }
    }
}

extension AttributeSyntax {
    /// The name without `@`.
    var name: String { attributeName.trimmedDescription }
}
