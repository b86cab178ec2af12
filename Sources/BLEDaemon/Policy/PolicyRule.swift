import BLEHost
import BLERuntime
import BLESession
import BLEWire
import Glibc

/// One rule of a policy: the conditions that select apps, and the permissions of these apps.
struct PolicyRule: Decodable, Equatable, Sendable {
    /// The contents of a policy file.
    struct List: Decodable {
        private enum Key: String, CodingKey, CaseIterable { case rules, unattendedPairing }
        let rules: [PolicyRule]
        let unattendedPairing: UnattendedPairing?

        init(from decoder: any Decoder) throws {
            try decoder.refuseUnknownKeys(of: "a policy", allowing: Key.self, hints: [:])
            let values = try decoder.container(keyedBy: Key.self)
            rules = try values.decode([PolicyRule].self, forKey: .rules)
            unattendedPairing = try values.decodeIfPresent(String.self, forKey: .unattendedPairing).map { name in
                guard let one = UnattendedPairing.allCases.first(where: { $0.name == name }) else {
                    let names = UnattendedPairing.allCases.map(\.name).joined(separator: ", ")
                    throw values.error(.unattendedPairing, "“\(name)” is not one of \(names)")
                }
                return one
            }
        }
    }

    private enum Key: String, CodingKey, CaseIterable {
        case user, group, program, roles, radios, services, pairing, addresses, admin
    }

    private let user: UInt32?
    private let group: UInt32?
    /// The path of the program, or of a directory whose programs match, with a slash at its end; `nil` for all
    /// programs.
    private let program: String?
    private let permits: Grant
    /// True if the app is an administrator; `nil` if that depends on the app's user.
    private let isAdministrator: Bool?

    init(from decoder: any Decoder) throws {
        try decoder.refuseUnknownKeys(of: "a rule", allowing: Key.self, hints: [:])
        let values = try decoder.container(keyedBy: Key.self)
        user = try values.number(.user, "user") { getpwnam($0)?.pointee.pw_uid }
        group = try values.number(.group, "group") { getgrnam($0)?.pointee.gr_gid }
        program = try values.decodeIfPresent(String.self, forKey: .program)
        if let program, !program.hasPrefix("/") {
            throw values.error(.program, "“\(program)” is not an absolute path")
        }
        let all: [ClientRole] = [.central, .peripheral, .agent]
        let roles = try values.decodeIfPresent([String].self, forKey: .roles)?.map { name in
            guard let role = all.first(where: { $0.name == name }) else {
                throw values.error(.roles, "“\(name)” is not one of \(all.map(\.name).joined(separator: ", "))")
            }
            return role
        }
        let services = try values.decodeIfPresent([String].self, forKey: .services)?.map { text in
            guard let uuid = BluetoothUUID(written: text, naming: [.service]) else {
                let forms = "4 or 8 hexadecimal digits, 36 characters or an assigned name"
                throw values.error(.services, "“\(text)” is not a UUID; use \(forms)")
            }
            return uuid
        }
        isAdministrator = try values.decodeIfPresent(Bool.self, forKey: .admin)
        permits = Grant(
            roles: roles ?? all,
            radios: try values.decodeIfPresent([String].self, forKey: .radios),
            services: services,
            pairs: try values.decodeIfPresent(Bool.self, forKey: .pairing) ?? true,
            seesAddresses: try values.decodeIfPresent(Bool.self, forKey: .addresses) ?? true,
            origin: ""
        )
    }

    /// Returns whether an app meets all conditions of the rule.
    func matches(_ app: AppCredentials) -> Bool {
        guard user ?? app.user == app.user, group.map(app.groups.contains) ?? true else { return false }
        guard let program else { return true }
        guard app.isProgramKnown else { return false }
        return program.hasSuffix("/") ? app.program.hasPrefix(program) : app.program == program
    }

    /// Returns the permissions that the rule gives to an app.
    ///
    /// `isAdministrator` applies if the rule does not say whether the app is an administrator.
    func grant(isAdministrator: Bool, origin: String) -> Grant {
        var grant = permits
        grant.isAdministrator = self.isAdministrator ?? isAdministrator
        grant.origin = origin
        return grant
    }
}

extension UnattendedPairing {
    /// The name of this value in a policy.
    fileprivate var name: String {
        switch self {
        case .never: "never"
        case .whenNeeded: "whenNeeded"
        case .always: "always"
        }
    }
}

extension KeyedDecodingContainer {
    fileprivate func error(_ key: Key, _ sentence: String) -> DecodingError {
        .dataCorruptedError(forKey: key, in: self, debugDescription: sentence)
    }

    /// Decodes a user or group ID; `nil` if there is no value.
    ///
    /// If the value is a name, `find` looks it up. `kind` is “user” or “group”, for error messages.
    fileprivate func number(_ key: Key, _ kind: String, _ find: (String) -> UInt32?) throws -> UInt32? {
        guard contains(key) else { return nil }
        if let number = try? decode(UInt32.self, forKey: key) { return number }
        let name = try decode(String.self, forKey: key)
        guard let number = find(name) else { throw error(key, "there is no \(kind) “\(name)”") }
        return number
    }
}
