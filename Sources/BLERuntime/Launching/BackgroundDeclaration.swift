package import BLEHost

/// The background modes that a process declares, like an app in its property list.
package enum BackgroundDeclaration {
    /// The environment variable with the declaration: `bluetooth-central`, `bluetooth-peripheral` or both, separated by
    /// a comma.
    package static let variable = "BLUETOOTH_BACKGROUND_MODES"

    /// Returns the phase of an app whose process makes this declaration.
    ///
    /// Without a declaration, it is in the foreground.
    package static func phase(of role: ClientRole, declared text: String?) -> AppPhase {
        guard let text, let mode = mode(of: role) else { return .foreground }
        return text.split(separator: ",").contains { $0 == mode } ? .background : .suspended
    }

    /// Returns the background mode for this role; `nil` if there is none.
    package static func mode(of role: ClientRole) -> String? {
        switch role {
        case .central: "bluetooth-central"
        case .peripheral: "bluetooth-peripheral"
        case .agent, .tester: nil
        }
    }
}
