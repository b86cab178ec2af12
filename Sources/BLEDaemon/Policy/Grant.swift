package import BLEHost
import BLESession
package import BLEWire

/// The permissions of an app, and their origin.
package struct Grant: Equatable, Sendable {
    /// The allowed roles.
    package var roles: [ClientRole]
    /// The allowed radios, by the names in the daemon's arguments; `nil` for all.
    package var radios: [String]?
    /// The services that may be used at peers and published; `nil` for all, and for channels.
    ///
    /// Advertisements are not restricted, neither received nor own ones.
    package var services: [BluetoothUUID]?
    /// True if the app may pair devices, and see and remove bonds.
    package var pairs: Bool
    /// Up to which point the app may have devices paired although no app asks the user.
    package var unattendedPairing = UnattendedPairing.whenNeeded
    /// True if the app may see the addresses of devices.
    package var seesAddresses: Bool
    /// True if it may decide for the apps of all users: answer their questions of pairing, see and remove their bonds,
    /// and set requirements for all pairings.
    package var isAdministrator: Bool
    /// The origin for people, such as "rule 2 of /etc/bled/policy.json".
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

    /// Returns the description of these permissions.
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

    /// Returns the reason why this role is not allowed on this radio; `nil` if it is.
    func refusal(of role: ClientRole, on radio: String) -> String? {
        if let sentence = refusal(of: role) { return sentence }
        guard radios?.contains(radio) ?? true else { return "\(origin) does not allow the radio “\(radio)”" }
        return nil
    }

    /// Returns the reason why this role is not allowed on any radio; `nil` if it is.
    func refusal(of role: ClientRole) -> String? {
        guard !roles.isEmpty else { return "\(origin) denies all Bluetooth use" }
        guard roles.contains(role) else {
            return "\(origin) does not allow the role \(role.name)"
        }
        guard role != .agent || pairs else { return "\(origin) does not allow pairing" }
        return nil
    }

    func allows(_ service: BluetoothUUID) -> Bool { services?.contains(service) ?? true }
}
