import BLEWire
import Foundation
import Testing

@testable import BLEConformance

@Suite("Driver loop")
struct DriverLoopTests {
    @Test("A driver loop carries packets and lines until the socket closes")
    func endToEnd() throws {
        var sockets: [Int32] = [0, 0], input: [Int32] = [0, 0], output: [Int32] = [0, 0]
        try #require(socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue), 0, &sockets) == 0)
        try #require(pipe(&input) == 0 && pipe(&output) == 0)
        defer { for descriptor in [sockets[1], input[0], output[0]] { close(descriptor) } }

        let loop = DriverLoop(packets: sockets[1], input: input[0], output: output[1])
        let finished = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            if var driver = try? AttributeServerDriver(AttributeCase(json: AttributeCases.battery), at: Instant()) {
                try? loop.run(&driver)
            }
            close(loop.output)
            finished.signal()
        }

        func answer(to packet: [UInt8]) -> [UInt8] {
            _ = send(sockets[0], packet, packet.count, 0)
            var buffer = [UInt8](repeating: 0, count: 600)
            let count = recv(sockets[0], &buffer, buffer.count, 0)
            return Array(buffer.prefix(max(count, 0)))
        }
        #expect(answer(to: [0x02, 0x17, 0x00]) == [0x03, 0x40, 0x00])
        #expect(answer(to: [0x0A, 0x14, 0x00]) == [0x0B, 0x5A])
        let line = #"{"do": {"op": "send_notification", "handle": 20, "value": "01"}}"# + "\n"
        _ = Foundation.write(input[1], line, line.utf8.count)
        var buffer = [UInt8](repeating: 0, count: 600)
        #expect(recv(sockets[0], &buffer, buffer.count, 0) == 4)
        #expect(Array(buffer.prefix(4)) == [0x1B, 0x14, 0x00, 0x01])
        close(input[1])
        #expect(answer(to: [0x0A, 0x14, 0x00]) == [0x0B, 0x5A])

        close(sockets[0])
        finished.wait()
        let said = FileHandle(fileDescriptor: output[0], closeOnDealloc: false).readDataToEndOfFile()
        #expect(String(decoding: said, as: UTF8.self) == "{\"ready\":true}\n{\"result\":{}}\n")
    }

    @Test("Lines are parsed correctly however their bytes are split")
    func lines() {
        var buffer = LineBuffer()
        #expect(buffer.append(Array("one\ntw".utf8)) == ["one"])
        #expect(buffer.append(Array("o".utf8)) == [])
        #expect(buffer.append(Array("\n\nthree\n".utf8)) == ["two", "three"])
    }
}
