import Glibc
import Testing

/// A host that sends single commands to a controller of a radio server, and waits for the answers.
final class RadioClient {
    private let socket: Int32

    /// Connects; the system completes this before the server accepts the connection.
    init(at port: UInt16) throws {
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        try #require(result == 0)
    }

    /// Sends Reset; returns true if the controller answers, false if the connection ends.
    func reset() -> Bool { command(0x0C03) == 0 }

    /// Sends a command; returns the status in Command Complete, or `nil` if the connection ends.
    func command(_ opcode: UInt16, _ parameters: [UInt8] = []) -> UInt8? {
        let name = [UInt8(opcode & 0xFF), UInt8(opcode >> 8)]
        let packet = [0x01] + name + [UInt8(parameters.count)] + parameters
        guard send(socket, packet, packet.count, Int32(MSG_NOSIGNAL)) == packet.count else { return nil }
        while let event = nextEvent() {
            if event.code == 0x0E, event.parameters.count > 3, Array(event.parameters[1...2]) == name {
                return event.parameters[3]
            }
        }
        return nil
    }

    /// Waits for an event with this code; returns false if the connection ends first.
    func receives(event code: UInt8) -> Bool {
        while let event = nextEvent() { if event.code == code { return true } }
        return false
    }

    /// Waits for the next octet; returns true if the server ends the connection instead.
    var isEnded: Bool { octets(1).isEmpty }

    private func nextEvent() -> (code: UInt8, parameters: [UInt8])? {
        let header = octets(3)
        guard header.count == 3, header[0] == 0x04 else { return nil }
        let parameters = octets(Int(header[2]))
        return parameters.count == Int(header[2]) ? (header[1], parameters) : nil
    }

    private func octets(_ count: Int) -> [UInt8] {
        var octets: [UInt8] = []
        while octets.count < count {
            var octet: UInt8 = 0
            guard recv(socket, &octet, 1, 0) == 1 else { break }
            octets.append(octet)
        }
        return octets
    }

    func leave() { shutdown(socket, Int32(SHUT_RDWR)) }

    deinit { close(socket) }
}
