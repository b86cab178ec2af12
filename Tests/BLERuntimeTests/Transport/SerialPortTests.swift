import BLERuntime
import Testing

@Suite("Serial port", .timeLimit(.minutes(30)))
struct SerialPortTests {
    private static let data: [UInt8] = [0x02, 0x40, 0x00, 0x03, 0x00, 1, 2, 3]

    private func owner(of board: Board) -> TransportOwner {
        TransportOwner(PortTransport(SerialPort(SerialAddress(path: board.path, rate: 1_000_000))))
    }

    @Test("A controller is reset, and then exchanges octets of any value with the host")
    func speaks() async throws {
        let board = try #require(Board())
        let owner = owner(of: board)
        #expect(await owner.next() == .opened)
        owner.send(Board.reset)
        #expect(await owner.packet() == Board.answer)
        let packet = [0x02, 0x40, 0x00, 0x00, 0x01] + (0...255).map { UInt8($0) }
        board.say(packet)
        #expect(await owner.packet() == packet)
        owner.stop()
    }

    @Test("A board that starts late and prints other text is reset until it responds")
    func late() async throws {
        let board = try #require(Board(ignoring: 3, greeting: Array("*** Booting ***\r\n\u{4}".utf8)))
        let owner = owner(of: board)
        var event = await owner.next()
        // A busy machine may let the time go by that a board has, which is told, and tried again.
        while case .absent(.unreachable)? = event { event = await owner.next() }
        #expect(event == .opened)
        #expect(board.resets >= 4)
        board.say(Self.data)
        #expect(await owner.packet() == Self.data)
        owner.stop()
    }

    @Test("After noise or lost octets the controller is reset, and no wrong packet is delivered")
    func recovers() async throws {
        let board = try #require(Board())
        let owner = owner(of: board)
        #expect(await owner.next() == .opened)
        board.say(Self.data)
        #expect(await owner.packet() == Self.data)
        for damage in [[0x00], Array(Self.data.dropLast())] as [[UInt8]] {
            board.say(damage)
            #expect(await owner.next() == .closed(.garbage))
            #expect(await owner.next() == .opened)
            board.say(Self.data)
            #expect(await owner.packet() == Self.data)
        }
        owner.stop()
    }

    @Test(
        "A path that is not a serial port is reported with the remedy",
        arguments: [("/nowhere/ttyACM0", "Plug in the board"), ("/dev/null", "ls /dev/ttyACM*")]
    )
    func obstacle(path: String, cure: String) async throws {
        let owner = TransportOwner(PortTransport(SerialPort(SerialAddress(path: path))))
        #expect(await owner.next() == .absent(.unreachable))
        #expect(owner.lastFailure?.context.contains(path) == true)
        #expect(owner.lastFailure?.cure?.contains(cure) == true)
        owner.stop()
    }
}
