package import BLERuntime

/// The parsing of D-Bus server addresses.
///
/// D-Bus Specification, Server Addresses.
package enum BusAddress {
    /// A reason why there is no address to connect to.
    ///
    /// The description does not say which setting contains the address, because only the caller knows.
    package enum Mistake: Error, Hashable, CustomStringConvertible {
        /// The environment names no bus.
        case missing
        /// This part of the list is not a valid address, or it is the beginning of a list that is too long.
        case malformed(String)
        /// None of the addresses in this list names a Unix socket to connect to.
        case unsupported(String)

        package var description: String {
            switch self {
            case .missing: "neither DBUS_SESSION_BUS_ADDRESS nor XDG_RUNTIME_DIR is set"
            case .malformed(let part): "“\(part.printable)” is not a D-Bus address"
            case .unsupported(let text): "“\(text.printable)” is not the D-Bus address of a Unix socket"
            }
        }
    }

    /// The maximum number of addresses in the list; any after that are ignored.
    private static let most = 16
    /// The maximum length of the list in octets; a longer one is rejected.
    private static let limit = 4_096

    /// Returns the possible addresses of the session bus, in the order to try them.
    ///
    /// `environment` returns the value of an environment variable; `nil` if the variable is not set.
    package static func ofSession(environment: (String) -> String?) throws(Mistake) -> [SocketAddress] {
        if let text = environment("DBUS_SESSION_BUS_ADDRESS"), !text.isEmpty { return try places(in: text) }
        guard let directory = environment("XDG_RUNTIME_DIR"), directory.hasPrefix("/") else { throw .missing }
        return [.unix(path: directory + "/bus")]
    }

    /// Returns the Unix sockets in `text`, a list of addresses, in the order of the list; skips addresses of other
    /// kinds.
    ///
    /// - Throws: ``Mistake/malformed(_:)`` if an address is not valid or the list is too long,
    ///   ``Mistake/unsupported(_:)`` if the list contains no Unix socket.
    package static func places(in text: String) throws(Mistake) -> [SocketAddress] {
        guard text.utf8.count <= limit else { throw .malformed(String(text.prefix(40))) }
        var places: [SocketAddress] = []
        for part in text.split(separator: ";").prefix(most) {
            if let place = try place(in: part) { places.append(place) }
        }
        guard !places.isEmpty else { throw .unsupported(text) }
        return places
    }

    private static func place(in part: Substring) throws(Mistake) -> SocketAddress? {
        let mistake = Mistake.malformed(String(part))
        guard let colon = part.firstIndex(of: ":"), colon != part.startIndex else { throw mistake }
        var path: String?, name: String?
        for pair in part[part.index(after: colon)...].split(separator: ",") {
            guard let equals = pair.firstIndex(of: "="), equals != pair.startIndex,
                let value = unescaped(pair[pair.index(after: equals)...])
            else { throw mistake }
            switch pair[..<equals] {
            case "path": path = value
            case "abstract": name = value
            default: break
            }
        }
        guard part[..<colon] == "unix" else { return nil }
        switch (path, name) {
        case (let path?, nil) where path.hasPrefix("/"): return .unix(path: path)
        case (nil, let name?) where !name.isEmpty: return .abstract(name: name)
        // The remaining kinds, such as tmpdir, are only for servers.
        case (nil, nil): return nil
        case (_?, _), (nil, _?): throw mistake
        }
    }

    /// Decodes a value in which `%` and two hexadecimal digits stand for an octet; `nil` if it is malformed.
    private static func unescaped(_ value: Substring) -> String? {
        var octets: [UInt8] = [], rest = Array(value.utf8)[...]
        while let octet = rest.popFirst() {
            guard octet == UInt8(ascii: "%") else {
                octets.append(octet)
                continue
            }
            let digits = rest.prefix(2)
            guard digits.count == 2, digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
                let escaped = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
            else { return nil }
            octets.append(escaped)
            rest = rest.dropFirst(2)
        }
        return octets.contains(0) ? nil : String(validating: octets, as: UTF8.self)
    }
}
