package import BLEHost

/// The background modes that a process declares in an environment variable, as apps do in an Info.plist.
package enum BackgroundDeclaration {
    /// The environment variable with the declaration: `bluetooth-central`, `bluetooth-peripheral` or both, separated by
    /// a comma.
    package static let variable = "BLUETOOTH_BACKGROUND_MODES"

    /// Returns the phase of an app whose process has this declaration.
    ///
    /// The app is in the foreground if there is no declaration or its role needs no mode, in the background if the mode
    /// of its role is declared, and suspended otherwise.
    package static func phase(of role: ClientRole, declared text: String?) -> AppPhase {
        guard let text, let mode = mode(of: role) else { return .foreground }
        return text.split(separator: ",").contains { $0 == mode } ? .background : .suspended
    }

    /// Returns the background mode that a role needs; `nil` if it needs none.
    package static func mode(of role: ClientRole) -> String? {
        switch role {
        case .central: "bluetooth-central"
        case .peripheral: "bluetooth-peripheral"
        case .agent, .tester: nil
        }
    }
}
