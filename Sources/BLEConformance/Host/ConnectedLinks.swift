import BLEHost
import BLEWire

/// The links of the host, with the test suite's requests that wait for a change of a link.
struct ConnectedLinks {
    private struct Link {
        let link: RadioLink
        var strength: PairingStrength?
        var ending: [Int] = []
        var securing: [(level: Int, id: Int)] = []
        /// True if a pairing question waits for the test suite's reply.
        var isAsked = false
    }

    private var links: [Link] = []

    /// Returns the link whose number the request contains.
    func link(_ call: HostCall) throws -> RadioLink {
        let number = try call.neededNumber("connection", in: 0...0xEFF)
        guard let link = links.first(where: { $0.link.handle.wire == number }) else {
            throw InvalidInput("connection: no connection has the number \(number)")
        }
        return link.link
    }

    func handle(to peer: PeerIdentifier) -> ConnectionHandle? { links.last { $0.link.peer == peer }?.link.handle }

    /// Returns the level of LE security mode 1 that a link has: Core 6.0, Vol 3, Part C, 10.2.1.
    func level(of handle: ConnectionHandle) -> Int {
        links.first { $0.link.handle == handle }?.strength?.level ?? 1
    }

    mutating func add(_ link: RadioLink) { links.append(Link(link: link)) }

    /// Makes the request `id` wait for the end of a link.
    mutating func end(_ handle: ConnectionHandle, _ id: Int) { change(handle) { $0.ending.append(id) } }

    /// Makes the request `id` wait until a link is secured, and succeed if the link reaches `level`.
    mutating func secure(_ handle: ConnectionHandle, _ level: Int, _ id: Int) {
        change(handle) { $0.securing.append((level, id)) }
    }

    private mutating func change(_ handle: ConnectionHandle, _ body: (inout Link) -> Void) {
        guard let index = links.firstIndex(where: { $0.link.handle == handle }) else { return }
        body(&links[index])
    }

    /// Removes a link that has ended; returns the lines to print.
    mutating func ended(_ handle: ConnectionHandle, _ status: HCI.Status) -> [HostLine] {
        guard let index = links.firstIndex(where: { $0.link.handle == handle }) else { return [] }
        let link = links.remove(at: index)
        let values: [String: HostLine.Value] = [
            "connection": .number(Int(handle.wire)), "reason": .number(Int(status.wire)),
        ]
        return [.event("disconnected", values)] + link.securing.map { .failure($0.id, "the link ended: \(status)") }
            + link.ending.map { .result($0) }
    }

    /// Removes all links, because the controller is lost; returns the lines to print.
    mutating func lost() -> [HostLine] {
        links.map(\.link.handle).flatMap { ended($0, .connectionTerminatedByLocalHost) }
    }

    /// Records that the link to a peer is encrypted with a key of this strength; returns the lines to print.
    mutating func secured(_ peer: PeerIdentifier, _ strength: PairingStrength, isBonded: Bool) -> [HostLine] {
        guard let index = links.lastIndex(where: { $0.link.peer == peer }) else { return [] }
        let level = strength.level, requests = links[index].securing
        links[index].strength = strength
        (links[index].securing, links[index].isAsked) = ([], false)
        let values: [String: HostLine.Value] = [
            "connection": .number(Int(links[index].link.handle.wire)), "level": .number(level),
            "bonded": .flag(isBonded),
        ]
        return [.event("security", values)]
            + requests.map { request in
                request.level <= level
                    ? .result(request.id, ["level": .number(level)])
                    : .failure(request.id, "the link reached only level \(level)")
            }
    }

    /// Records whether a question about the pairing with a peer waits for the test suite's reply.
    mutating func ask(_ peer: PeerIdentifier, _ isAsked: Bool) {
        guard let index = links.lastIndex(where: { $0.link.peer == peer }) else { return }
        links[index].isAsked = isAsked
    }

    /// Returns whether a question about the pairing with a peer waits for the test suite's reply.
    func isAsked(about peer: PeerIdentifier) -> Bool { links.last { $0.link.peer == peer }?.isAsked ?? false }

    /// Records that the pairing with a peer has failed, no matter which end started it, and returns the lines to print.
    mutating func failed(_ peer: PeerIdentifier, _ failure: PairingFailure) -> [HostLine] {
        guard let index = links.lastIndex(where: { $0.link.peer == peer }) else { return [] }
        let requests = links[index].securing
        (links[index].securing, links[index].isAsked) = ([], false)
        let values: [String: HostLine.Value] = [
            "connection": .number(Int(links[index].link.handle.wire)), "reason": .text("\(failure)"),
        ]
        return [.event("pairing_failed", values)] + requests.map { .failure($0.id, "pairing failed: \(failure)") }
    }
}

extension PairingStrength {
    /// The level of LE security mode 1 that a link has with a key of this strength.
    fileprivate var level: Int { !isAuthenticated ? 2 : isSecureConnections && keySize == 16 ? 4 : 3 }
}
