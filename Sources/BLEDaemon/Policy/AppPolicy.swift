package import BLEHost
package import FoundationEssentials

/// The administrator's policy: a list of rules.
///
/// The first rule that matches an app determines the app's permissions.
package struct AppPolicy: Equatable, Sendable {
    /// No policy: every app that can reach the socket may do everything.
    package static let none = Self(rules: nil, origin: "no policy")

    /// The rule for pairing while no app can ask the user; `nil` for the hosts' default.
    ///
    /// It applies to all apps, because they share bonds: a device is paired with the computer, not with a single app.
    package let unattendedPairing: UnattendedPairing?
    private let rules: [PolicyRule]?
    private let origin: String

    private init(rules: [PolicyRule]?, unattendedPairing: UnattendedPairing? = nil, origin: String) {
        self.rules = rules
        self.unattendedPairing = unattendedPairing
        self.origin = origin
    }

    /// Parses a policy.
    ///
    /// `origin` is the name of the policy's file, for messages.
    ///
    /// - Throws: A `DecodingError` with the place of the error.
    package init(json: Data, origin: String) throws {
        let file = try JSONDecoder().decode(PolicyRule.List.self, from: json)
        self.init(rules: file.rules, unattendedPairing: file.unattendedPairing, origin: origin)
    }

    /// Returns the permissions of an app.
    ///
    /// The app has no permissions if no rule matches, or if the kernel does not report the app's identity.
    ///
    /// Root and the daemon's user are administrators, unless a rule says otherwise.
    package func grant(to app: AppCredentials?) -> Grant {
        let ownsDaemon = app?.ownsDaemon ?? false
        guard let rules else { return Grant(isAdministrator: ownsDaemon, origin: origin) }
        guard let app, let index = rules.firstIndex(where: { $0.matches(app) }) else {
            return Grant(roles: [], origin: "\(origin) (no rule matches)")
        }
        var grant = rules[index].grant(isAdministrator: ownsDaemon, origin: "rule \(index + 1) of \(origin)")
        if let unattendedPairing { grant.unattendedPairing = unattendedPairing }
        return grant
    }
}
