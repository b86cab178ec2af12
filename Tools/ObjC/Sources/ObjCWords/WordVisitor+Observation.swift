import SwiftSyntax

extension WordVisitor {
    /// Makes the changes of a property that is `dynamic` observable.
    ///
    /// The property gets a call of `_keyValueDidChange` after each change, and a second property with its name is
    /// declared behind it, so that an observation of anything else does not compile.
    func makeObservable(_ node: VariableDeclSyntax) {
        let modifiers = Set(node.modifiers.map(\.name.text))
        guard modifiers.contains("dynamic"), modifiers.isDisjoint(with: ["static", "class", "override"]),
            let binding = node.bindings.first, let name = node.onlyName
        else { return }
        let levels = ["public", "open", "package", "fileprivate", "private"]
        let level = node.modifiers.first { $0.detail == nil && levels.contains($0.name.text) }?.name.text
        let access = level.map { $0 == "open" ? "public " : $0 + " " } ?? ""
        let key = ";nonisolated \(access)var _key_\(name):_ObservableKey{_ObservableKey(\"\(name)\")}"
        func call(_ old: String) -> String { "_keyValueDidChange(self,\"\(name)\",\(old))" }
        guard let block = binding.accessorBlock else {
            return edits.insert(" {didSet{\(call("oldValue"))}}\(key)", at: binding.octets.upperBound)
        }
        edits.insert(key, at: block.octets.upperBound)
        guard case .accessors(let accessors) = block.accessors else { return }
        let kinds = accessors.map(\.accessorSpecifier.text)
        for accessor in accessors {
            guard let start = accessor.body?.leftBrace.octets.upperBound else { continue }
            switch accessor.accessorSpecifier.text {
            case "didSet": edits.insert("defer{\(call(accessor.parameters?.name.text ?? "oldValue"))};", at: start)
            case "set": edits.insert("let _old=self.\(name);defer{\(call("_old"))};", at: start)
            case "willSet" where !kinds.contains("didSet"):
                edits.insert("didSet{\(call("oldValue"))} ", at: accessor.octets.lowerBound)
            default: break
            }
        }
    }

    /// Returns the reason why the property with `modifier` cannot be observed; `nil` if it can be.
    func obstacle(to modifier: DeclModifierSyntax) -> String? {
        guard let property = modifier.parent?.parent?.as(VariableDeclSyntax.self), property.onlyName == nil else {
            return nil
        }
        return "properties that are declared together cannot be observed"
    }

    /// Replaces `observe(\.isOn)` with `observe(\._key_isOn,\.isOn)`, and `observe(\.lamp?.isOn)` with
    /// `observe(lamp,\._key_isOn,\.isOn)`.
    func rewriteObservation(_ node: FunctionCallExprSyntax, named name: String) {
        guard let keyPath = node.arguments.first?.expression.as(KeyPathExprSyntax.self), !index.declares(name) else {
            return
        }
        var parts = keyPath.trimmedDescription.dropFirst().split(separator: ".").map { $0.filter { $0 != "?" } }
        if keyPath.root != nil { parts.removeFirst() }
        let isOwn = [name, "self." + name].contains(node.calledExpression.trimmedDescription)
        let isName = parts.last?.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" } == true
        if isName, parts.count == 1 {
            report(name, at: node)
            edits.insert("\\._key_\(parts[0]),", at: keyPath.octets.lowerBound)
        } else if isName, name == "observe", isOwn, parts.count == 2 {
            report(name, at: node)
            edits.substitute(keyPath.octets, with: "\(parts[0]),\\._key_\(parts[1]),\\.\(parts[1])")
        } else {
            let reason = "only a property of the object itself, or of an object that it holds, can be observed"
            report(name, at: node, left: reason)
        }
    }
}

extension VariableDeclSyntax {
    /// The name of the property; `nil` if several are declared together.
    fileprivate var onlyName: String? {
        guard bindings.count == 1 else { return nil }
        return bindings.first?.pattern.as(IdentifierPatternSyntax.self)?.identifier.text.filter { $0 != "`" }
    }
}
