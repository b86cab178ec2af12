package import BLEHost

/// What a process says it does without being used by anybody, as an app for a phone says in its property list.
package enum BackgroundDeclaration {
    /// The variable of the environment that holds the declaration: `bluetooth-central`, `bluetooth-peripheral` or both,
    /// with a comma between them.
    package static let variable = "BLUETOOTH_BACKGROUND_MODES"

    /// How far an app is in use whose process makes this declaration.
    ///
    /// Without a declaration, it is in the foreground.
    package static func phase(of role: ClientRole, declared text: String?) -> AppPhase {
        guard let text, let mode = mode(of: role) else { return .foreground }
        return text.split(separator: ",").contains { $0 == mode } ? .background : .suspended
    }

    /// What a declaration holds for an app that uses the host in this way; `nil` if there is nothing to declare.
    package static func mode(of role: ClientRole) -> String? {
        switch role {
        case .central: "bluetooth-central"
        case .peripheral: "bluetooth-peripheral"
        case .agent, .tester: nil
        }
    }
}
