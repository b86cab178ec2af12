import SwiftSyntax

extension WordVisitor {
    /// Moves the overrides in an extension into the class, if the class is in this module.
    ///
    /// The compiler reports them at their place in the extension.
    func moveOverrides(in node: ExtensionDeclSyntax) {
        for member in node.memberBlock.allMembers {
            guard let declaration = member.asProtocol((any WithModifiersSyntax).self),
                let modifier = declaration.modifiers.first(where: { $0.name.text == "override" })
            else { continue }
            guard let type = EnclosingType(of: member), let place = index.place(of: type.name), !place.isGeneric else {
                report("override", at: modifier, left: "its class is generic, or is not in this module")
                continue
            }
            guard !member.containsWords else {
                report("override", at: modifier, left: "it contains #selector or #keyPath")
                continue
            }
            report("override", at: modifier)
            edits.blank(member.octets, of: source)
            let start = member.startLocation(converter: converter)
            let access = declaration.modifiers.hasAccess ? "" : node.modifiers.access.map { $0 + " " } ?? ""
            let attributes = node.attributes.named(["available", "MainActor"]).map { $0.trimmedDescription + "\n" }
            let indentation = String(repeating: " ", count: max(0, start.column - 1 - access.utf8.count))
            let text = attributes.joined() + directive(line: start.line) + indentation + access + cleaned(member) + "\n"
            moves.append((type.name, Syntax(member).conditional(text)))
        }
    }

    /// Returns the text of a member without attributes of Objective-C.
    private func cleaned(_ member: DeclSyntax) -> String {
        var cleaning = Edits()
        let range = member.octets
        if let attributes = member.asProtocol((any WithAttributesSyntax).self)?.attributes.named(["objc", "IBAction"]) {
            for attribute in attributes { cleaning.blank(attribute.octets, of: source) }
        }
        for modifier in member.asProtocol((any WithModifiersSyntax).self)?.modifiers ?? []
        where modifier.name.text == "dynamic" {
            cleaning.blank(modifier.octets, of: source)
        }
        let text = Array(cleaning.applied(to: Array(source[..<range.upperBound])).utf8)
        return String(decoding: text[min(range.lowerBound, text.count)...], as: UTF8.self)
    }

    /// Adds moved declarations before the brace that ends a class.
    func insert(_ declarations: [String], before end: Int) {
        let location = converter.location(for: AbsolutePosition(utf8Offset: end))
        let indentation = String(repeating: " ", count: max(0, location.column - 1))
        edits.insert("\n" + declarations.joined() + directive(line: location.line) + indentation, at: end)
    }
}

extension DeclSyntax {
    /// True if the declaration contains `#selector` or `#keyPath`.
    fileprivate var containsWords: Bool {
        tokens(viewMode: .sourceAccurate).contains { token in
            ["selector", "keyPath"].contains(token.text) && token.previousToken(viewMode: .sourceAccurate)?.text == "#"
        }
    }
}

extension DeclModifierListSyntax {
    private static let levels = ["open", "public", "package", "internal", "fileprivate", "private"]
    /// The access level that is written.
    fileprivate var access: String? { map(\.name.text).first { Self.levels.contains($0) } }
    fileprivate var hasAccess: Bool { access != nil }
}
