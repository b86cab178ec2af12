import BLESimulation
import CoreBluetooth
import Testing

@testable import ble

@Suite("Joining a chat room on the command line") @MainActor
struct ChatSessionTests {
    /// A session of a guest in a world where nobody else is.
    private func session(in world: World, wanting room: String?, stays: Bool = false) -> ChatSession {
        let guest = world.machine("phone").inhabit { ChatGuest(name: "Alice") { _ in } }
        let printer = Printer(json: true) { _ in }
        return ChatSession(guest: guest, wanted: room, stays: stays, timeout: .seconds(2), printer: printer)
    }

    @Test(
        "A line that cannot be sent is not kept for a room joined later",
        arguments: [("/foo", "Lobby"), ("/", nil), ("/joinn 1", nil), ("hello", nil)] as [(String, String?)]
    )
    func unsaid(line: String, room: String?) throws {
        let guest = World(seed: 1).machine("phone").inhabit { ChatGuest(name: "Alice") { _ in } }
        let printer = Printer(json: true) { _ in }
        var session = ChatSession(guest: guest, wanted: room, stays: false, timeout: .seconds(2), printer: printer)
        #expect(try !session.receive(.line(line)))
        #expect(guest.isIdle)
        #expect(try !session.receive(.line("hello")))
        #expect(guest.isIdle == (room == nil))
    }

    @Test("A room that is not found times out after the end of the input")
    func notFound() throws {
        let world = World(seed: 1)
        var session = session(in: world, wanting: "Lobby")
        #expect(try !session.receive(.line("hello")))
        #expect(try !session.receive(.ended))
        #expect {
            try session.receive(.overdue)
        } throws: {
            if case .noRoom("Lobby", within: .seconds(2), seen: []) = $0 as? CommandError { true } else { false }
        }
    }

    @Test("A guest that only looks for rooms ends with the input")
    func done() throws {
        let world = World(seed: 1)
        var looking = session(in: world, wanting: nil)
        #expect(try looking.receive(.ended))
        var staying = session(in: world, wanting: nil, stays: true)
        #expect(try !staying.receive(.ended))
        var interrupted = session(in: world, wanting: "Lobby")
        #expect(try interrupted.receive(.interrupted))
    }

    @Test("A lost radio is waited for outside rooms")
    func radio() throws {
        var session = session(in: World(seed: 1), wanting: "Lobby")
        #expect(try !session.receive(.happened(.radioChanged(.lost))))
        #expect(try !session.receive(.happened(.radioChanged(.returned))))
    }
}
