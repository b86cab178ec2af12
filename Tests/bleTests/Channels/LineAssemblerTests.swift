import Foundation
import Testing

@testable import ble

@Suite("Chat lines")
struct LineAssemblerTests {
    @Test("Lines are complete, however they are split", arguments: 1...40)
    func cut(length: Int) {
        var assembler = LineAssembler()
        let text = ChatRoom.message(from: "Zoë", "grüß dich 🐙") + ChatRoom.message(from: "Bob", "")
        let lines = ChatRoom.pieces(of: text, length: length).flatMap { assembler.receive($0) }
        #expect(lines == ["[Zoë] grüß dich 🐙", "[Bob] "])
    }

    @Test("A line that never ends is dropped at the limit, and the next one is complete")
    func endless() {
        var assembler = LineAssembler()
        let endless = Data(repeating: UInt8(ascii: "x"), count: LineAssembler.limit + 1)
        #expect(assembler.receive(endless).isEmpty)
        #expect(assembler.receive(Data("whole\n".utf8)) == ["whole"])
    }

    @Test("The welcome states the number of subscribers and the maximum length of an update")
    func welcome() {
        let text = ChatRoom.welcome(to: "Lobby", subscribers: 2, maximumLength: 182)
        #expect(text == "[Lobby] Welcome! Here is Lobby (total: 2, max length: 182)\n")
    }
}
