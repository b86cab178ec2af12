import BLEHost
import BLEWire
import Foundation
import Testing

@testable import CoreBluetooth

@Suite("Flow of a channel")
struct ChannelFlowTests {
    /// A flow whose streams are open and have told so.
    private func openFlow(unitLength: Int = 100) -> ChannelFlow {
        var flow = ChannelFlow(unitLength: unitLength)
        flow.open(.input)
        flow.open(.output)
        #expect(flow.inputEvents() == [.openCompleted])
        #expect(flow.outputEvents() == [.openCompleted, .hasSpaceAvailable])
        return flow
    }

    @Test("Streams must be opened before reading or writing, and earlier data is then available")
    func unopened() {
        var flow = ChannelFlow(unitLength: 10)
        #expect(flow.receive(.received([1, 2, 3])).isEmpty)
        #expect(flow.status(of: .input) == .notOpen && flow.status(of: .output) == .notOpen)
        #expect(!flow.hasBytes && !flow.hasSpace)
        #expect(flow.read(10).count == -1)
        #expect(flow.write([1]).count == -1)
        #expect(flow.inputEvents().isEmpty)
        flow.open(.input)
        #expect(flow.inputEvents() == [.openCompleted, .hasBytesAvailable])
        #expect(flow.read(10).octets == [1, 2, 3])
    }

    @Test("Data is sent in SDUs of at most the peer's size")
    func units() {
        var flow = openFlow(unitLength: 4)
        let (count, requests) = flow.write(Array(0..<10))
        #expect(count == 10)
        #expect(requests == [.send([0, 1, 2, 3]), .send([4, 5, 6, 7]), .send([8, 9])])
    }

    @Test("A writer is blocked while the window is full, and told once a good part has been sent")
    func window() {
        var flow = openFlow(unitLength: 1 << 16)
        #expect(flow.write([UInt8](repeating: 1, count: ChannelFlow.window + 5)).count == ChannelFlow.window)
        #expect(!flow.hasSpace && flow.isWaitingForSpace)
        #expect(flow.write([1]).count == 0)
        #expect(flow.outputEvents().isEmpty)
        #expect(flow.receive(.sent(ChannelFlow.window / 4 - 1)).isEmpty)
        #expect(flow.hasSpace)
        #expect(flow.outputEvents().isEmpty)
        _ = flow.receive(.sent(1))
        #expect(flow.outputEvents() == [.hasSpaceAvailable])
        #expect(flow.outputEvents().isEmpty)
        #expect(flow.write([UInt8](repeating: 1, count: ChannelFlow.window)).count == ChannelFlow.window / 4)
    }

    @Test("Consumption is reported to the host when all or much has been read")
    func consumption() {
        var flow = openFlow()
        for _ in 0..<100 { #expect(flow.receive(.received([UInt8](repeating: 0, count: 100))).isEmpty) }
        #expect(flow.read(4095).requests.isEmpty)
        #expect(flow.read(1).requests == [.consumed(4096)])
        #expect(flow.read(5000).requests == [.consumed(5000)])
        #expect(flow.read(900).requests.isEmpty)
        #expect(flow.read(900).requests == [.consumed(904)])
    }

    @Test("A delegate is told once of available data, and again after reading part of it")
    func toldOnce() {
        var flow = openFlow()
        _ = flow.receive(.received([1, 2]))
        #expect(flow.inputEvents() == [.hasBytesAvailable])
        _ = flow.receive(.received([3]))
        #expect(flow.inputEvents().isEmpty)
        _ = flow.read(1)
        #expect(flow.inputEvents() == [.hasBytesAvailable])
        _ = flow.read(2)
        #expect(flow.inputEvents().isEmpty)
    }

    @Test("When the peer closes, its data is read first, and then both streams are at their end")
    func endOfStream() {
        var flow = openFlow()
        _ = flow.receive(.received([1]))
        _ = flow.receive(.closed(nil))
        #expect(flow.status(of: .input) == .open && flow.status(of: .output) == .atEnd)
        #expect(flow.outputEvents() == [.endEncountered])
        #expect(flow.inputEvents() == [.hasBytesAvailable])
        #expect(flow.read(5).octets == [1])
        #expect(flow.status(of: .input) == .atEnd)
        #expect(flow.inputEvents() == [.endEncountered])
        #expect(flow.read(5).count == 0)
        #expect(flow.error(of: .input) == nil && flow.error(of: .output) == nil)
        #expect(flow.write([1]).count == -1)
        #expect(flow.status(of: .output) == .error)
        #expect((flow.error(of: .output) as? POSIXError)?.code == .EPIPE)
        #expect(flow.outputEvents() == [.errorOccurred])
        #expect(flow.close(.input).isEmpty && flow.close(.output).isEmpty)
        #expect(flow.status(of: .input) == .closed && flow.status(of: .output) == .closed)
        #expect(flow.error(of: .output) == nil)
    }

    @Test(
        "A lost channel fails once all received data is read",
        arguments: [
            (Failure.hci(.connectionTimeout), CBError.connectionTimeout), (.poweredOff, .notConnected),
            (.hci(.remoteUserTerminatedConnection), .peripheralDisconnected), (.cancelled, .operationCancelled),
        ]
    )
    func loss(failure: Failure, code: CBError.Code) {
        var flow = openFlow()
        _ = flow.receive(.received([1]))
        _ = flow.receive(.closed(failure))
        #expect(flow.outputEvents() == [.errorOccurred])
        #expect((flow.error(of: .output) as? CBError)?.code == code)
        #expect(flow.error(of: .input) == nil)
        #expect(flow.read(5).octets == [1])
        #expect(flow.inputEvents() == [.hasBytesAvailable, .errorOccurred].suffix(1))
        #expect((flow.error(of: .input) as? CBError)?.code == code)
        #expect(flow.read(5).count == -1)
        #expect(flow.write([1]).count == -1)
    }

    @Test("The channel is closed once, when both streams are, in either order")
    func closing() {
        var flow = openFlow()
        #expect(flow.close(.output).isEmpty)
        #expect(flow.write([1]).count == -1)
        #expect(flow.receive(.received([1])).isEmpty)
        #expect(flow.close(.input) == [.close])
        #expect(flow.release().isEmpty)
        var other = openFlow()
        #expect(other.close(.input).isEmpty)
        #expect(other.close(.output) == [.close])
        #expect(other.close(.output).isEmpty)
        #expect(other.inputEvents().isEmpty && other.outputEvents().isEmpty)
    }

    @Test("Data that will never be read does not block the peer")
    func discarded() {
        var flow = openFlow()
        _ = flow.receive(.received([1, 2, 3]))
        _ = flow.read(1)
        #expect(flow.close(.input) == [.consumed(3)])
        #expect(flow.receive(.received([4, 5])) == [.consumed(2)])
        #expect(flow.read(5).count == -1)
    }

    @Test("Releasing a channel sends written data first, and fails streams that are still open")
    func letGo() {
        var flow = openFlow()
        #expect(flow.write([1, 2]).requests + flow.release() == [.send([1, 2]), .close])
        #expect(flow.isReleased)
        #expect(flow.inputEvents() == [.errorOccurred] && flow.outputEvents() == [.errorOccurred])
        #expect((flow.error(of: .input) as? CBError)?.code == .operationCancelled)
        #expect(flow.receive(.received([1])).isEmpty)
        #expect(!flow.hasBytes)
    }

    @Test("Unpublishing a channel closes it, and received data can still be read")
    func withdrawn() {
        var flow = openFlow()
        _ = flow.receive(.received([1]))
        #expect(flow.withdraw() == [.close])
        #expect(flow.withdraw().isEmpty)
        #expect(flow.read(5).octets == [1])
        #expect((flow.error(of: .input) as? CBError)?.code == .operationCancelled)
    }
}

extension ChannelFlow {
    fileprivate mutating func read(_ length: Int) -> (count: Int, octets: [UInt8], requests: Requests) {
        var octets = [UInt8](repeating: 0, count: length)
        let (count, requests) = octets.withUnsafeMutableBufferPointer { read(into: $0) }
        return (count, Array(octets[..<max(0, count)]), requests)
    }

    fileprivate mutating func write(_ octets: [UInt8]) -> (count: Int, requests: Requests) {
        let (count, requests) = octets.withUnsafeBufferPointer { write($0) }
        return (count, requests)
    }

    fileprivate mutating func inputEvents() -> [Stream.Event] {
        var events: [Stream.Event] = []
        while let event = nextEvent(of: .input, besides: []) { events.append(event) }
        return events
    }

    fileprivate mutating func outputEvents() -> [Stream.Event] {
        var events: [Stream.Event] = []
        while let event = nextEvent(of: .output, besides: []) { events.append(event) }
        return events
    }
}
