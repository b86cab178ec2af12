import Foundation

/// The rules by which `ble explore` accepts requests.
///
/// Any page that a browser shows can send requests to a port of this machine, and with DNS rebinding it can even do so
/// under a name of its own. A request is therefore accepted only with the token, which is part of the address that `ble
/// explore` prints. In addition, its host must be one that no DNS server can claim, and its origin, if any, must be
/// this server.
struct ExploreAccess: Sendable {
    /// The parts of a request that the rules examine.
    struct Request: Equatable, Sendable {
        var method = "GET"
        /// The path with the query, as it was sent.
        var target = "/"
        /// The values of the header fields `Host`, `Origin`, `Sec-Fetch-Site` and `Content-Type`.
        var hosts: [String] = []
        var origins: [String] = []
        var sites: [String] = []
        var contentTypes: [String] = []
    }

    /// The resources of the server.
    enum Route: Equatable, Sendable {
        case page, events, commands
    }

    /// The reason why a request is not accepted, which the response tells the user.
    struct Refusal: Error, Equatable, Sendable {
        /// The status of the response, such as 403.
        let status: Int
        let sentence: String
    }

    /// The secret part of the page's URL.
    let token: String
    private let hosts: Set<String>
    private let acceptsNumericHosts: Bool
    private let port: Int

    /// Creates the rules for a server.
    ///
    /// - Parameters:
    ///   - token: The secret part of the page's URL.
    ///   - address: The numeric IP address that the server listens on.
    ///   - port: The TCP port that the server listens on.
    init(token: String, address: String, port: Int) {
        self.token = token
        self.port = port
        hosts = ["localhost", Self.host(of: address)]
        acceptsNumericHosts = !Self.isLoopback(address)
    }

    /// Returns a new token of 128 random bits.
    static func makeToken() -> String {
        let number = UInt128.random(in: .min ... .max)
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 32 - digits.count) + digits
    }

    /// Returns true if only programs of this machine can connect to an IP address.
    static func isLoopback(_ address: String) -> Bool { address == "::1" || address.hasPrefix("127.") }

    /// Returns an IP address as it is written in a URL.
    static func host(of address: String) -> String { address.contains(":") ? "[\(address)]" : address }

    /// Returns the resource that a request is for.
    ///
    /// - Throws: ``Refusal`` if the request is not accepted.
    func route(_ request: Request) throws(Refusal) -> Route {
        guard request.hosts.count == 1, let host = request.hosts.first, accepts(host) else {
            throw Refusal(
                status: 421,
                sentence: "The request is for another host. Open the address that “ble explore” has printed."
            )
        }
        guard request.origins.allSatisfy({ $0 == "http://\(host)" }) else {
            throw Refusal(status: 403, sentence: "Requests from other origins are not allowed.")
        }
        let parts = request.target.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].isEmpty, isToken(parts[1]) else {
            throw Refusal(status: 403, sentence: "Open the address that “ble explore” has printed.")
        }
        let route: Route
        switch parts[2] {
        case "": route = .page
        case "events": route = .events
        case "commands": route = .commands
        default: throw Refusal(status: 404, sentence: "There is no such page.")
        }
        // A browser that sends no origin still says, in Sec-Fetch-Site, that a request comes from a page of another
        // site.
        guard route == .page || request.sites.allSatisfy({ $0 == "same-origin" || $0 == "none" }) else {
            throw Refusal(status: 403, sentence: "Requests from other sites are not allowed.")
        }
        guard request.method == (route == .commands ? "POST" : "GET") else {
            throw Refusal(status: 405, sentence: "Use \(route == .commands ? "POST" : "GET").")
        }
        guard route != .commands || request.contentTypes == ["application/json"] else {
            throw Refusal(status: 415, sentence: "Send commands as application/json.")
        }
        return route
    }

    /// Returns true if a request may name this host.
    ///
    /// The allowed hosts need no DNS: `localhost`, the address that the server listens on and, unless that is a
    /// loopback address, any other IP address. The server's port must follow, unless it is 80.
    private func accepts(_ host: String) -> Bool {
        let suffix = ":\(port)"
        guard host.hasSuffix(suffix) || port == 80 else { return false }
        let name = host.hasSuffix(suffix) ? String(host.dropLast(suffix.count)) : host
        return hosts.contains(name.lowercased()) || acceptsNumericHosts && Self.isNumeric(name)
    }

    /// Returns true if the host in a URL is an IP address.
    private static func isNumeric(_ name: String) -> Bool {
        var octets = in6_addr()
        if name.hasPrefix("["), name.hasSuffix("]") {
            return inet_pton(AF_INET6, String(name.dropFirst().dropLast()), &octets) == 1
        }
        return inet_pton(AF_INET, name, &octets) == 1
    }

    /// Returns true if a text is the token, in a time that does not depend on the number of correct characters.
    private func isToken(_ text: Substring) -> Bool {
        let (one, other) = (Array(text.utf8), Array(token.utf8))
        guard one.count == other.count else { return false }
        return zip(one, other).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
