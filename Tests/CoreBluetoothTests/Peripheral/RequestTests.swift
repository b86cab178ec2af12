import BLEHost
import BLEWire
import Testing

@testable import CoreBluetooth

@Suite("Requests of centrals")
struct RequestTests {
    let bench = PeripheralBench()
    let id = LocalAttributeID(rawValue: 2)
    let transaction = ServerTransaction(rawValue: 9)

    @Test("A read is answered with the value from its offset")
    func reading() async {
        let characteristic = CBMutableCharacteristic.dynamic()
        _ = await bench.publish(characteristic)
        await bench.tell(.readRequested(transaction, PeripheralBench.central, id, offset: 22))
        #expect(bench.app.take() == ["read 2A37 22"])
        let request = bench.app.reads[0]
        #expect(request.characteristic === characteristic)
        #expect(request.central.identifier == UUID(PeripheralBench.central.peer))
        #expect(request.value == nil)
        request.value = Data([1, 2])
        bench.manager.respond(to: request, withResult: .success)
        #expect(bench.take() == [.service(.respond(transaction, .success([1, 2])))])
    }

    @Test(
        "An error reaches the central with its code",
        arguments: [
            (CBATTError.Code.invalidOffset, 0x07), (.readNotPermitted, 0x02), (CBATTError.Code(rawValue: 0x80)!, 0x80),
            (CBATTError.Code(rawValue: 0x1234)!, 0x0E), (CBATTError.Code(rawValue: -1)!, 0x0E),
        ] as [(CBATTError.Code, UInt8)]
    )
    func refusing(code: CBATTError.Code, expected: UInt8) async {
        _ = await bench.publish(.dynamic())
        await bench.tell(.readRequested(transaction, PeripheralBench.central, id, offset: 0))
        bench.manager.respond(to: bench.app.reads[0], withResult: code)
        #expect(bench.take() == [.service(.respond(transaction, .failure(ATT.ErrorCode(wire: expected))))])
    }

    @Test("A group of writes is one call with one response, and a second response is a misuse")
    func writing() async {
        _ = await bench.publish(.dynamic())
        let parts = [WritePart(attribute: id, value: [1, 2]), WritePart(attribute: id, offset: 2, value: [3])]
        await bench.tell(.writeRequested(transaction, PeripheralBench.central, WriteGroup(parts)))
        #expect(bench.app.take() == ["write 0:[1, 2] 2:[3]"])
        for request in bench.app.writes[0] { bench.manager.respond(to: request, withResult: .success) }
        #expect(bench.take() == [.service(.respond(transaction, .success([1, 2])))])
        #expect(bench.lines.take().count == 1)
    }

    @Test("A manager that did not receive a request cannot answer it or use it up", .behaviour("1.3.11"))
    func foreign() async throws {
        let bench = WorldBench(), peripheral = try #require(await bench.connect(.dynamic()))
        let other = bench.anotherServer()
        await bench.wait()
        peripheral.readValue(for: try #require(peripheral.characteristic("2A37")))
        await bench.wait()
        let request = bench.serverApp.reads[0]
        request.value = Data([4])
        other.manager.respond(to: request, withResult: .success)
        let lines = bench.lines.take()
        #expect(lines.count == 1)
        #expect(lines.first?.hasSuffix("was received by another manager") == true)
        bench.server.respond(to: request, withResult: .success)
        await bench.wait()
        #expect(bench.app.take() == ["value 2A37 [4] ok"])
        #expect(bench.lines.take().isEmpty)
    }

    @Test("A write without response gets no response")
    func commands() async {
        _ = await bench.publish(.dynamic())
        await bench.tell(.writeRequested(nil, PeripheralBench.central, [WritePart(attribute: id, value: [1])]))
        bench.manager.respond(to: bench.app.writes[0][0], withResult: .success)
        #expect(bench.take().isEmpty)
        #expect(bench.lines.take().isEmpty)
    }

    @Test("Requests for removed attributes are refused, and a group is refused as a whole")
    func gone() async {
        let service = await bench.publish(.dynamic())
        let gone = LocalAttributeID(rawValue: 77)
        let parts = [WritePart(attribute: id, value: [1]), WritePart(attribute: gone, value: [2])]
        await bench.tell(.writeRequested(transaction, PeripheralBench.central, WriteGroup(parts)))
        bench.manager.remove(service)
        _ = bench.manager.state
        await bench.tell(.readRequested(transaction, PeripheralBench.central, id, offset: 0))
        #expect(bench.app.take().isEmpty)
        let refusal = ClientRequest.service(.respond(transaction, .failure(.requestNotSupported)))
        #expect(bench.take() == [refusal, .service(.removeService(LocalAttributeID(rawValue: 1))), refusal])
    }

    /// Answers neither reads nor writes.
    final class Deaf: NSObject, CBPeripheralManagerDelegate {
        func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {}
    }

    @Test("Requests are refused if the app has no method for them", arguments: [false, true])
    func deaf(hasDelegate: Bool) async {
        let deaf = Deaf()
        _ = await bench.publish(.dynamic())
        bench.manager.delegate = hasDelegate ? deaf : nil
        await bench.tell(.readRequested(transaction, PeripheralBench.central, id, offset: 0))
        let parts = [WritePart(attribute: id, value: [1])]
        await bench.tell(.writeRequested(transaction, PeripheralBench.central, WriteGroup(parts)))
        let refusal = ClientRequest.service(.respond(transaction, .failure(.requestNotSupported)))
        #expect(bench.take() == [refusal, refusal])
    }
}
