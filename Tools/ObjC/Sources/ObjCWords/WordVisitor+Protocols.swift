import SwiftSyntax

extension WordVisitor {
    /// Makes a protocol of Objective-C one of Swift's, for classes only.
    ///
    /// An optional method becomes one that throws, with an implementation that does so. A class may implement it
    /// without `throws`. `delegate?.lamp?(self, turned: true)` calls a value that has a method
    /// `callAsFunction(_:turned:)`, and that returns `nil` where the implementation throws.
    func rewriteProtocol(_ node: ProtocolDeclSyntax) {
        report("@objc protocol", at: node)
        var methods: [OptionalMethod] = []
        for member in node.memberBlock.allMembers {
            guard let modifier = member.optionalModifier else { continue }
            guard let function = member.as(FunctionDeclSyntax.self), let method = OptionalMethod(function) else {
                report("optional", at: modifier, left: "only instance methods can be optional here")
                continue
            }
            report("optional", at: modifier)
            edits.blank(modifier.octets, of: source)
            if !method.isThrowing { edits.insert(" throws", at: method.effectsEnd) }
            methods.append(method)
        }
        guard let type = EnclosingType(of: node.memberBlock) else { return }
        let inherited = node.inheritanceClause?.inheritedTypes.map(\.type.trimmedDescription) ?? []
        var added = Set(inherited).isDisjoint(with: ["AnyObject", "class", "NSObjectProtocol"]) ? ["AnyObject"] : []
        let plain = Set(node.memberBlock.allMembers.compactMap { $0.as(FunctionDeclSyntax.self)?.plainName })
        if methods.contains(where: { plain.contains($0.base) }) { added.append(parent(of: type)) }
        if !added.isEmpty {
            let end = (node.inheritanceClause?.octets ?? node.name.octets).upperBound
            edits.insert((inherited.isEmpty ? ": " : ", ") + added.joined(separator: ", "), at: end)
        }
        guard !methods.isEmpty else { return }
        edits.append(Syntax(node).conditional(declarations(for: methods, of: type, node, plain)))
    }

    /// Returns the name of a protocol for some of the values that are called instead of optional methods.
    ///
    /// A protocol cannot have a method without parameters and a property of the same name, but it can inherit one.
    private func parent(of type: EnclosingType) -> String { "_\(type.name.replacing(".", with: "_"))_Optional" }

    /// Returns the implementations of optional methods, and the types of the values that are called instead of them.
    ///
    /// `plain` has the names of the protocol's methods without parameters.
    private func declarations(
        for methods: [OptionalMethod],
        of type: EnclosingType,
        _ node: ProtocolDeclSyntax,
        _ plain: Set<String>
    ) -> String {
        let levels = ["public", "package", "internal", "fileprivate", "private"]
        let level = node.modifiers.map(\.name.text).first { levels.contains($0) } ?? "internal"
        let access = level == "private" ? "fileprivate" : level
        let isolation = node.attributes.compactMap { element -> String? in
            guard case .attribute(let attribute) = element, attribute.name != "objc" else { return nil }
            return attribute.trimmedDescription + " "
        }.joined()
        let prefix = "_\(type.name.replacing(".", with: "_"))_"
        var bases: [String] = [], text = ""
        for method in methods where !bases.contains(method.base) { bases.append(method.base) }
        text += "\(isolation)extension \(type.name) {\n"
        for method in methods {
            text += directive(line: line(of: method.node)) + method.implementation(access: access) + "\n"
        }
        let inherited = bases.filter(plain.contains)
        for base in bases where !inherited.contains(base) {
            let name = base.filter { $0 != "`" }
            text += "\(access) var \(base): \(prefix)\(name)? { \(prefix)\(name)(object: self) }\n"
        }
        text += "}\n"
        if !inherited.isEmpty {
            text += "\(isolation)\(access) protocol \(parent(of: type)): AnyObject {}\n"
            text += "\(isolation)extension \(parent(of: type)) {\n"
            for base in inherited {
                let name = prefix + base.filter { $0 != "`" }
                text += "\(access) var \(base): \(name)? { (self as? any \(type.name)).map(\(name).init) }\n"
            }
            text += "}\n"
        }
        for base in bases {
            text += "\(isolation)\(access) struct \(prefix)\(base.filter { $0 != "`" }) {\n"
            text += "fileprivate let object: any \(type.name)\n"
            text += "fileprivate struct NotImplemented: Error {}\n"
            for method in methods where method.base == base { text += method.call(access: access) + "\n" }
            text += "}\n"
        }
        return text.replacing(
            OptionalMethod.errorName,
            with: "\(prefix)\(bases[0].filter { $0 != "`" }).NotImplemented"
        )
    }
}

/// An optional method of a protocol.
private struct OptionalMethod {
    /// A word in the generated text that stands for the error of an implementation that is missing.
    static let errorName = "\u{1}error"

    let node: FunctionDeclSyntax
    let base: String
    let isAsync: Bool
    let isThrowing: Bool
    /// The position after the parameters and `async`.
    let effectsEnd: Int
    private let parameters: [FunctionParameterSyntax]
    private let result: TypeSyntax?

    init?(_ node: FunctionDeclSyntax) {
        guard !node.modifiers.contains(where: { ["static", "class"].contains($0.name.text) }) else { return nil }
        let effects = node.signature.effectSpecifiers
        self.node = node
        base = node.name.text
        isAsync = effects?.asyncSpecifier != nil
        isThrowing = effects?.throwsClause != nil
        effectsEnd = (effects?.asyncSpecifier?.octets ?? node.signature.parameterClause.octets).upperBound
        parameters = Array(node.signature.parameterClause.parameters)
        result = node.signature.returnClause?.type
    }

    private var effects: String { isAsync ? " async" : "" }

    /// The attributes that also belong to generated methods.
    private var attributes: String {
        node.attributes.named(["available", "MainActor"]).map { $0.trimmedDescription + " " }.joined()
    }

    private var parameterList: String {
        parameters.map { parameter in
            let names = [parameter.firstName, parameter.secondName].compactMap { $0?.text }
            return names.joined(separator: " ") + ": " + parameter.type.trimmedDescription.singleLine
        }.joined(separator: ", ")
    }

    private var arguments: String {
        parameters.map { parameter in
            let label = parameter.firstName.text == "_" ? "" : parameter.firstName.text + ": "
            let isInOut = parameter.type.trimmedDescription.hasPrefix("inout ")
            return label + (isInOut ? "&" : "") + (parameter.secondName ?? parameter.firstName).text
        }.joined(separator: ", ")
    }

    /// The result without `?`; `nil` if the method returns nothing.
    private var wrappedResult: String? {
        guard let result, !["Void", "()"].contains(result.trimmedDescription) else { return nil }
        if let optional = result.as(OptionalTypeSyntax.self) {
            return optional.wrappedType.trimmedDescription.singleLine
        }
        if let optional = result.as(ImplicitlyUnwrappedOptionalTypeSyntax.self) {
            return optional.wrappedType.trimmedDescription.singleLine
        }
        return result.trimmedDescription.singleLine
    }

    /// Returns the implementation for classes that have none of their own.
    func implementation(access: String) -> String {
        let returned = result.map { " -> " + $0.trimmedDescription.singleLine } ?? ""
        let head = "\(attributes)\(access) func \(base)(\(parameterList))\(effects) throws\(returned)"
        return "\(head) { throw \(Self.errorName)() }"
    }

    /// Returns the method that calls this one, and returns `nil` where a class does not implement it.
    func call(access: String) -> String {
        let wait = isAsync ? "await " : "", isOptional = result.map(\.isOptional) ?? false
        let call = "\(wait)object.\(base)(\(arguments))"
        let head = "\(attributes)@discardableResult \(access) func callAsFunction(\(parameterList))\(effects)"
        let returned = wrappedResult.map { "(\($0))?" } ?? "Void?"
        guard isThrowing else {
            return "\(head) -> \(returned) { \(isOptional ? "(try? \(call)) ?? nil" : "try? \(call)") }"
        }
        return "\(head) throws -> \(returned) { do { return try \(call) } catch is \(Self.errorName) { return nil } }"
    }
}

extension FunctionDeclSyntax {
    /// The name of a method without parameters; `nil` for other methods.
    fileprivate var plainName: String? { signature.parameterClause.parameters.isEmpty ? name.text : nil }
}

extension TypeSyntax {
    fileprivate var isOptional: Bool {
        self.is(OptionalTypeSyntax.self) || self.is(ImplicitlyUnwrappedOptionalTypeSyntax.self)
    }
}

extension String {
    /// The text without line breaks and the blanks around them.
    fileprivate var singleLine: String {
        split(whereSeparator: \.isNewline).map { $0.drop { $0 == " " || $0 == "\t" } }.joined(separator: " ")
    }
}

extension MemberBlockSyntax {
    /// The declarations in the block, also those within `#if`.
    var allMembers: [DeclSyntax] {
        func flat(_ list: MemberBlockItemListSyntax) -> [DeclSyntax] {
            list.flatMap { item -> [DeclSyntax] in
                guard let conditional = item.decl.as(IfConfigDeclSyntax.self) else { return [item.decl] }
                return conditional.clauses.flatMap { clause -> [DeclSyntax] in
                    guard case .decls(let list)? = clause.elements else { return [] }
                    return flat(list)
                }
            }
        }
        return flat(members)
    }
}

extension DeclSyntax {
    /// The modifier `optional` of a method or property.
    fileprivate var optionalModifier: DeclModifierSyntax? {
        asProtocol((any WithModifiersSyntax).self)?.modifiers.first { $0.name.text == "optional" }
    }
}
