package import BLEHost
import BLESession
package import BLEWire

/// What an app may do with the radios, and what says so.
package struct Grant: Equatable, Sendable {
    /// What sessions may be for.
    package var roles: [ClientRole]
    /// Which radios sessions may be on, by the names by which the daemon opened them; every one if `nil`.
    package var radios: [String]?
    /// Which services may be used at peers and be published; every one, and channels, if `nil`.
    ///
    /// Advertisements are not limited by it, neither those that are heard nor the own one.
    package var services: [BluetoothUUID]?
    /// Whether devices may be paired, and bonds be seen and removed.
    package var pairs: Bool
    /// Up to which point the app may have devices paired although no app asks the user.
    package var unattendedPairing = UnattendedPairing.whenNeeded
    /// Whether the addresses of devices are told.
    package var seesAddresses: Bool
    /// Whether it may decide for the apps of all users: answer their questions of pairing, see and remove their bonds,
    /// and set requirements for all pairings.
    package var isAdministrator: Bool
    /// What says so, for people, such as "rule 2 of /etc/bled/policy.json".
    package var origin: String

    package init(
        roles: [ClientRole] = [.central, .peripheral, .agent],
        radios: [String]? = nil,
        services: [BluetoothUUID]? = nil,
        pairs: Bool = true,
        seesAddresses: Bool = true,
        isAdministrator: Bool = false,
        origin: String
    ) {
        self.roles = roles
        self.radios = radios
        self.services = services
        self.pairs = pairs
        self.seesAddresses = seesAddresses
        self.isAdministrator = isAdministrator
        self.origin = origin
    }

    /// What to tell of it.
    func fact(of app: AppCredentials) -> GrantFact {
        var fact = GrantFact()
        fact.user = app.user
        fact.program = app.program
        fact.roles = roles
        fact.radios = radios
        fact.services = services
        fact.pairs = pairs
        fact.seesAddresses = seesAddresses
        fact.isAdministrator = isAdministrator
        fact.origin = origin
        return fact
    }

    /// Why there is no session in this role on this radio; `nil` if there may be one.
    func refusal(of role: ClientRole, on radio: String) -> String? {
        if let sentence = refusal(of: role) { return sentence }
        guard radios?.contains(radio) ?? true else { return "\(origin) does not allow it the radio “\(radio)”" }
        return nil
    }

    /// Why it may not be this on any radio; `nil` if it may.
    func refusal(of role: ClientRole) -> String? {
        guard !roles.isEmpty else { return "\(origin) allows it nothing" }
        guard roles.contains(role) else {
            return "\(origin) does not allow it to be \(role == .agent ? "an" : "a") \(role.name)"
        }
        guard role != .agent || pairs else { return "\(origin) does not allow it to pair" }
        return nil
    }

    func allows(_ service: BluetoothUUID) -> Bool { services?.contains(service) ?? true }
}
