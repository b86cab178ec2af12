import BLEHost
import BLERuntime
import BLEWire
import Dispatch
import Testing

@testable import CoreBluetooth

@Suite("Peripheral record")
struct PeripheralRecordTests {
    /// A record of a connected peripheral with a service of two characteristics.
    private struct Bench {
        var record = PeripheralRecord(name: nil)
        let peripheral: CBPeripheral
        let service: CBService

        init() {
            let queue = DispatchQueue(label: "app")
            let session = ScriptedSession(.central, .all(on: queue) { _ in })
            let reference = ManagerReference(queue: queue)
            peripheral = CBPeripheral(CentralBench.peer, name: nil, session: session, reference: reference)
            record.link = PeripheralLink(isConnected: true)
            record.database.add([Fixture.heartRate], of: peripheral)
            service = record.database.services![0]
            let last = Fixture.characteristic(0x2A39, .write, value: 16, end: 16)
            record.database.add([Fixture.characteristic(0x2A37, .read), last], to: service)
        }

        func characteristic(_ handle: UInt16 = 12) -> CBCharacteristic {
            record.database.characteristic(AttributeHandle(wire: handle))!
        }

        /// Tells of an event, and returns all that comes of it.
        mutating func hear(_ event: PeerEvent, _ number: UInt32 = 0) -> ObservedEvent {
            finish(record.receive(event, answering: RequestNumber(rawValue: number), of: peripheral), event)
        }

        mutating func finish(_ first: consuming PeripheralRecord.Step, _ event: PeerEvent? = nil) -> ObservedEvent {
            var observed = ObservedEvent(), step = first
            while true {
                observed.steps += 1
                observed.sent += step.requests.map(\.request)
                if let call = step.call { observed.calls.append(call) }
                switch step.observed {
                case .nothing: break
                case .sameEvent: observed.events.append(event!)
                case .event(let other): observed.events.append(other.event)
                }
                guard let rest = step.rest else { return observed }
                step = record.proceed(rest, of: peripheral)
            }
        }
    }

    /// What is to be told after one step.
    private struct Told {
        let call: PeripheralDelegateCall?
        let delegate: (any CBPeripheralDelegate)?
        let rest: PeripheralRecord.Remainder?

        init(_ step: consuming PeripheralRecord.Step) {
            (call, delegate, rest) = (step.call, step.delegate, step.rest)
        }
    }

    private struct ObservedEvent {
        var steps = 0
        var calls: [PeripheralDelegateCall] = []
        var events: [PeerEvent] = []
        var sent: [PeerRequest] = []
    }

    private let handle = AttributeHandle(wire: 12)
    private let strength = PeerEvent.rssiRead(.success(RSSI(dBm: -40)))

    @Test("A response is delivered in the step that receives it, which also sends the next request")
    func oneStep() {
        var bench = Bench()
        for _ in 0...PeripheralRequests.limit { _ = bench.record.requests.submit(.read(handle)) }
        let answer = PeerEvent.valueRead(handle, .success([1]))
        let observed = bench.hear(answer, 1)
        #expect(observed.calls == [.valueRead(bench.characteristic(), .success([1]))])
        #expect(observed.events == [answer])
        #expect(observed.sent == [.read(handle)])
        #expect(observed.steps == 1)
    }

    @Test("An early response is delivered in order, and requests made meanwhile are answered later")
    func turns() throws {
        var bench = Bench()
        for request in [PeerRequest.read(handle), .readRSSI] { _ = bench.record.requests.submit(request) }
        let early = bench.hear(strength, 2)
        #expect(early.calls.isEmpty && early.events.isEmpty)
        #expect(bench.record.rssi == nil)
        let number = RequestNumber(rawValue: 1)
        let answer = PeerEvent.valueRead(handle, .failure(.timedOut))
        let first = Told(bench.record.receive(answer, answering: number, of: bench.peripheral))
        #expect(first.call == .valueRead(bench.characteristic(), .failure(.timedOut)))
        let rest = try #require(first.rest)
        bench.record.requests.submit(nil, answer: .call(.soundingCompleted(.notSupported)))
        let second = Told(bench.record.proceed(rest, of: bench.peripheral))
        #expect(second.call == .rssiRead(.success(RSSI(dBm: -40))))
        #expect(second.rest == nil)
        let later = bench.finish(bench.record.proceed(.allAvailable, of: bench.peripheral))
        #expect(later.calls == [.soundingCompleted(.notSupported)])
    }

    @Test("Pending requests about removed services are answered, and then the removal is reported")
    func gone() {
        var bench = Bench()
        let first = bench.characteristic(), last = bench.characteristic(16)
        let write = PeerRequest.write(AttributeHandle(wire: 16), [1])
        for request in [PeerRequest.read(handle), .readRSSI, write] { _ = bench.record.requests.submit(request) }
        let observed = bench.hear(.servicesModified(.of(14...14)))
        #expect(
            observed.calls == [
                .valueRead(first, .failure(.notFound)), .valueWritten(last, .notFound),
                .subscriptionsEnded([first, last]), .servicesModified([bench.service]),
            ]
        )
        #expect(
            observed.events == [
                .valueRead(handle, .failure(.notFound)), .valueWritten(AttributeHandle(wire: 16), .notFound),
                .servicesModified(.of(14...14)),
            ]
        )
        #expect(bench.record.database.services == [])
        #expect(bench.hear(strength, 2).calls.count == 1)
    }

    @Test("Removed services are gone before the app's first callback about them")
    func goneFirst() {
        var bench = Bench()
        _ = bench.record.requests.submit(.read(handle))
        let step = Told(bench.record.receive(.servicesModified(.all), answering: .none, of: bench.peripheral))
        #expect(step.rest != nil)
        #expect(bench.record.database.characteristic(handle) == nil)
    }

    @Test("Callbacks go to the delegate at the time of delivery")
    func delegates() throws {
        var bench = Bench()
        let (before, after) = (CentralApp(), CentralApp())
        for request in [PeerRequest.read(handle), .readRSSI] { _ = bench.record.requests.submit(request) }
        _ = bench.hear(strength, 2)
        bench.record.delegate = before
        let number = RequestNumber(rawValue: 1)
        let answer = PeerEvent.valueRead(handle, .success([]))
        let first = Told(bench.record.receive(answer, answering: number, of: bench.peripheral))
        #expect(first.delegate === before)
        bench.record.delegate = after
        let second = Told(bench.record.proceed(try #require(first.rest), of: bench.peripheral))
        #expect(second.delegate === after)
    }

    @Test("Requests that end with the connection are answered in the order in which they were made")
    func failing() {
        var bench = Bench()
        for request in [PeerRequest.read(handle), .readRSSI] { _ = bench.record.requests.submit(request) }
        bench.record.requests.submit(nil, answer: .call(.soundingCompleted(.notSupported)))
        _ = bench.hear(strength, 2)
        let observed = bench.finish(bench.record.failRequests(.notConnected, of: bench.peripheral))
        #expect(
            observed.calls == [
                .valueRead(bench.characteristic(), .failure(.notConnected)), .rssiRead(.success(RSSI(dBm: -40))),
                .soundingCompleted(.notSupported),
            ]
        )
        #expect(observed.sent.isEmpty)
    }

    @Test("No pending callbacks are delivered once the connection is forgotten")
    func forgetting() throws {
        var bench = Bench()
        _ = bench.record.requests.submit(.read(handle))
        let step = Told(bench.record.receive(.servicesModified(.all), answering: .none, of: bench.peripheral))
        let rest = try #require(step.rest)
        _ = bench.record.forgetConnection()
        #expect(bench.finish(bench.record.proceed(rest, of: bench.peripheral)).calls.isEmpty)
    }

    @Test("Requests of different connections have different numbers")
    func numbers() throws {
        var bench = Bench()
        let submitted = bench.record.requests.submit(.readRSSI)
        let first = try #require(submitted)
        _ = bench.record.forgetConnection()
        let submittedAgain = bench.record.requests.submit(.readRSSI)
        let second = try #require(submittedAgain)
        #expect(first != second)
        #expect(bench.hear(strength, first.rawValue).calls.isEmpty)
        #expect(bench.hear(strength, second.rawValue).calls.count == 1)
    }

    @Test("Without a connection events are ignored, but an opened channel is closed")
    func disconnected() {
        var bench = Bench()
        bench.record.link = PeripheralLink()
        let opened = OpenedChannel(id: ChannelID(rawValue: 1), psm: SPSM(wire: 0x80), outgoingMTU: 23, incomingMTU: 23)
        #expect(bench.hear(.nameChanged("Name")).calls.isEmpty)
        #expect(bench.record.name == nil)
        let observed = bench.hear(.channelOpened(SPSM(wire: 0x80), .success(opened)))
        #expect(observed.calls == [.channelUnwanted(opened)])
        #expect(observed.events.isEmpty)
    }
}
