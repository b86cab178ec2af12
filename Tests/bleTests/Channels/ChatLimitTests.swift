import BLESimulation
import CoreBluetooth
import Testing

@testable import ble

@Suite("Limits of chat rooms", .timeLimit(.minutes(30))) @MainActor
struct ChatLimitTests {
    @Test("A room keeps the unfinished lines of 64 guests, and drops older ones")
    func lines() {
        var lines = GuestLines()
        let guests = (0...GuestLines.mostGuests).map { _ in UUID() }
        for guest in guests { #expect(lines.receive(Data("a".utf8), from: guest) == []) }
        #expect(lines.receive(Data("b\n".utf8), from: guests[0]) == ["b"])
        #expect(lines.receive(Data("b\nc".utf8), from: guests[1]) == ["ab"])
        lines.keep([guests[1], guests[2]])
        #expect(lines.receive(Data("d\n".utf8), from: guests[1]) == ["cd"])
        #expect(lines.receive(Data("b\n".utf8), from: guests[2]) == ["ab"])
        #expect(lines.receive(Data("b\n".utf8), from: guests[3]) == ["b"])
        lines.remove(guests[4])
        #expect(lines.receive(Data("b\n".utf8), from: guests[4]) == ["b"])
    }

    @Test("A room drops messages of guests while too many pieces are unsent, but not its own")
    func messages() {
        var outbox = ChatOutbox()
        for _ in 0..<3_000 { outbox.add("hi\n", to: nil, length: 2, isOwn: false) }
        #expect(outbox.pieces.count == ChatOutbox.mostPieces)
        outbox.add("hello\n", to: nil, length: 20, isOwn: true)
        #expect(outbox.pieces.last?.octets == Data("hello\n".utf8))
        outbox.removeFirst()
        outbox.removeFirst()
        outbox.add("hi\n", to: nil, length: 20, isOwn: false)
        #expect(outbox.pieces.last?.octets == Data("hi\n".utf8))
        #expect(outbox.pieces.count == ChatOutbox.mostPieces)
    }

    @Test("A guest lists the last 256 rooms that it has discovered")
    func rooms() async {
        let world = World(seed: 1)
        for number in 0..<(ChatGuest.mostRooms + 8) {
            world.place(
                SimulatedPeripheral(name: "Room \(number)", services: [.init(ChatRoom.service.uuidString, [])])
            )
        }
        var discovered: [UUID] = []
        let guest = world.machine("phone").inhabit {
            ChatGuest(name: "Alice") {
                if case .discovered(let room) = $0 { discovered.append(room.peripheral.identifier) }
            }
        }
        await world.advance(by: .seconds(1))
        guest.setScanning(true)
        #expect(await world.advance(atMost: .seconds(600)) { Set(discovered).count > ChatGuest.mostRooms })
        #expect(guest.rooms.count == ChatGuest.mostRooms)
        #expect(guest.rooms.last?.peripheral.identifier == discovered.last)
    }
}
