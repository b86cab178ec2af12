import Testing

@testable import ble

@Suite struct ExploreAccessTests {
    private static let token = "00112233445566778899aabbccddeeff"

    private static func request(
        _ method: String = "GET",
        _ path: String = "",
        host: String = "127.0.0.1:8080",
        origin: String? = nil,
        site: String? = nil,
        type: String? = nil
    ) -> ExploreAccess.Request {
        .init(
            method: method,
            target: "/\(token)/\(path)",
            hosts: [host],
            origins: origin.map { [$0] } ?? [],
            sites: site.map { [$0] } ?? [],
            contentTypes: type.map { [$0] } ?? []
        )
    }

    private static func status(
        _ request: ExploreAccess.Request,
        address: String = "127.0.0.1",
        port: Int = 8_080
    ) -> Int {
        do throws(ExploreAccess.Refusal) {
            _ = try ExploreAccess(token: token, address: address, port: port).route(request)
            return 200
        } catch {
            return error.status
        }
    }

    @Test("A page that the server sent may use it")
    func accepted() throws {
        let access = ExploreAccess(token: Self.token, address: "127.0.0.1", port: 8_080)
        #expect(try access.route(Self.request(site: "none")) == .page)
        // A link in another site leads to the page, but that site cannot read it.
        #expect(try access.route(Self.request(site: "cross-site")) == .page)
        #expect(try access.route(Self.request("GET", "events", site: "same-origin")) == .events)
        let command = Self.request(
            "POST",
            "commands",
            host: "localhost:8080",
            origin: "http://localhost:8080",
            site: "same-origin",
            type: "application/json"
        )
        #expect(try access.route(command) == .commands)
    }

    nonisolated static let refused: [(ExploreAccess.Request, Int)] = [
        // Hosts that a DNS server could name.
        (request(host: "evil.example:8080"), 421), (request(host: "127.0.0.1.evil.example:8080"), 421),
        (request(host: "127.0.0.1:8081"), 421), (request(host: "127.0.0.1"), 421), (request(host: ""), 421),
        (request(host: "192.0.2.7:8080"), 421),
        (ExploreAccess.Request(target: "/\(token)/"), 421),
        (ExploreAccess.Request(target: "/\(token)/", hosts: ["127.0.0.1:8080", "evil.example"]), 421),
        // Other origins.
        (request("POST", "commands", origin: "http://evil.example", type: "application/json"), 403),
        (request("POST", "commands", origin: "null", type: "application/json"), 403),
        (request("POST", "commands", origin: "https://127.0.0.1:8080", type: "application/json"), 403),
        (request("POST", "commands", origin: "http://127.0.0.1:80800", type: "application/json"), 403),
        (request("POST", "commands", origin: "http://localhost:8080", type: "application/json"), 403),
        (request("GET", "events", site: "cross-site"), 403), (request("GET", "events", site: "same-site"), 403),
        // Other tokens.
        (ExploreAccess.Request(target: "/", hosts: ["127.0.0.1:8080"]), 403),
        (ExploreAccess.Request(target: "/\(token.dropLast())0/events", hosts: ["127.0.0.1:8080"]), 403),
        (ExploreAccess.Request(target: "/\(token.dropLast())/", hosts: ["127.0.0.1:8080"]), 403),
        (ExploreAccess.Request(target: "/\(token)", hosts: ["127.0.0.1:8080"]), 403),
        (ExploreAccess.Request(target: "//\(token)/", hosts: ["127.0.0.1:8080"]), 403),
        (ExploreAccess.Request(target: "http://127.0.0.1:8080/\(token)/", hosts: ["127.0.0.1:8080"]), 403),
        // Other resources and methods.
        (request("GET", "other"), 404), (request("GET", "../etc/passwd"), 404), (request("GET", "?"), 404),
        (request("POST"), 405), (request("GET", "commands"), 405), (request("OPTIONS", "commands"), 405),
        (request("POST", "commands"), 415), (request("POST", "commands", type: "text/plain"), 415),
    ]

    @Test("A request of another page, host or site is refused", arguments: refused)
    func refusal(_ request: ExploreAccess.Request, _ status: Int) {
        #expect(Self.status(request) == status)
    }

    @Test(
        "A server for other machines accepts addresses as hosts, but no names",
        arguments: [
            ("192.0.2.7:8080", 200), ("[2001:db8::1]:8080", 200), ("localhost:8080", 200), ("box.example:8080", 421),
            ("192.0.2.7", 421), ("192.0.2.7.example:8080", 421), ("[::1:8080", 421), ("1:8080", 421),
        ]
    )
    func listening(host: String, status: Int) {
        #expect(Self.status(Self.request(host: host), address: "0.0.0.0") == status)
    }

    @Test("On port 80, the host needs no port")
    func usualPort() {
        #expect(Self.status(Self.request(host: "127.0.0.1"), port: 80) == 200)
        #expect(Self.status(Self.request(host: "127.0.0.1:80"), port: 80) == 200)
        #expect(Self.status(Self.request(host: "[::1]"), address: "::1", port: 80) == 200)
    }

    @Test("Tokens have 128 random bits")
    func tokens() {
        let tokens = Set((0..<64).map { _ in ExploreAccess.makeToken() })
        #expect(tokens.count == 64)
        #expect(tokens.allSatisfy { $0.wholeMatch(of: /[0-9a-f]{32}/) != nil })
    }
}
