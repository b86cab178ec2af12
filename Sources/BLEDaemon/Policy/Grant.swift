package import BLEHost
import BLESession
package import BLEWire

/// The permissions of an app, with the rule that they come from.
package struct Grant: Equatable, Sendable {
    /// The roles that the app may have.
    package var roles: [ClientRole]
    /// The radios that the app may use, named as in the daemon's arguments; `nil` for all.
    package var radios: [String]?
    /// The services that the app may use on peers and may publish; `nil` for all.
    ///
    /// If only some services are allowed, the app may not use L2CAP channels.
    ///
    /// Advertisements are not restricted: the app may receive and send any.
    package var services: [BluetoothUUID]?
    /// True if the app may pair devices, and see and remove bonds.
    package var pairs: Bool
    /// The most permissive rule that the app may request for pairing without asking the user.
    package var unattendedPairing = UnattendedPairing.whenNeeded
    /// True if the app may see the addresses of devices.
    package var seesAddresses: Bool
    /// True if the app may act for the apps of all users: answer their pairing questions, see and remove their bonds,
    /// and set requirements for all pairings.
    package var isAdministrator: Bool
    /// The source of the permissions, for messages, such as "rule 2 of /etc/bled/policy.json".
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

    /// Returns a description of these permissions, as `ble` shows them.
    func permissions(of app: AppCredentials) -> AppPermissions {
        var fact = AppPermissions()
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

    /// Returns the reason why `role` is not allowed on `radio`; `nil` if it is allowed.
    func refusal(of role: ClientRole, on radio: String) -> String? {
        if let sentence = refusal(of: role) { return sentence }
        guard radios?.contains(radio) ?? true else { return "\(origin) does not allow the radio “\(radio)”" }
        return nil
    }

    /// Returns the reason why `role` is not allowed on any radio; `nil` if it is allowed.
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
