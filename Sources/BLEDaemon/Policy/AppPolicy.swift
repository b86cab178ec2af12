package import BLEHost
package import Foundation
import Glibc

/// Which apps may do what, as an administrator has written it: the first rule that an app matches decides.
package struct AppPolicy: Equatable, Sendable {
    /// Without a policy, whoever can reach the socket may do everything.
    package static let none = Self(rules: nil, origin: "no policy")

    /// When the hosts pair although no app asks the user; as hosts do by themselves if `nil`.
    ///
    /// It counts for all apps, since a bond does: whoever is paired with is paired with the computer.
    package let unattendedPairing: UnattendedPairing?
    private let rules: [PolicyRule]?
    private let origin: String

    private init(rules: [PolicyRule]?, unattendedPairing: UnattendedPairing? = nil, origin: String) {
        self.rules = rules
        self.unattendedPairing = unattendedPairing
        self.origin = origin
    }

    /// Reads a policy; `origin` is what the file is called to people.
    ///
    /// - Throws: `DecodingError` that names the place.
    package init(json: Data, origin: String) throws {
        let file = try JSONDecoder().decode(PolicyRule.List.self, from: json)
        self.init(rules: file.rules, unattendedPairing: file.unattendedPairing, origin: origin)
    }

    /// What an app may do; nothing if no rule is about it, or the kernel does not say who it is.
    ///
    /// Root and the user of the daemon are administrators, unless a rule says something else.
    package func grant(to app: AppCredentials?) -> Grant {
        let ownsDaemon = app.map { [0, geteuid()].contains($0.user) } ?? false
        guard let rules else { return Grant(isAdministrator: ownsDaemon, origin: origin) }
        guard let app, let index = rules.firstIndex(where: { $0.matches(app) }) else {
            return Grant(roles: [], origin: "\(origin) (no rule is about it)")
        }
        var grant = rules[index].grant(isAdministrator: ownsDaemon, origin: "rule \(index + 1) of \(origin)")
        if let unattendedPairing { grant.unattendedPairing = unattendedPairing }
        return grant
    }
}
