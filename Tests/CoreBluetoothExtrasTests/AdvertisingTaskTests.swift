import BLESimulation
import CoreBluetoothExtras
import Testing

@MainActor
@Suite("Tasks that advertise", .timeLimit(.minutes(30)))
struct AdvertisingTaskTests {
    private let bench = LampBench()
    private let server: CBPeripheralManager

    init() async {
        server = bench.phone.inhabit { CBPeripheralManager(delegate: nil, queue: DispatchQueue(label: "server")) }
        await bench.wait { [server] in server.state == .poweredOn }
    }

    private func advertise(_ advertisement: BroadcastAdvertisement) -> Task<Void, any Error> {
        let request = Request(advertisement: advertisement)
        return Task { @MainActor in try await server.advertise(request.advertisement) }
    }

    private struct Request: @unchecked Sendable {
        let advertisement: BroadcastAdvertisement
    }

    @Test("A task that is cancelled before it advertises throws an error, and nothing is advertised")
    func cancelledBefore() async throws {
        let task = advertise(BroadcastAdvertisement())
        task.cancel()
        await #expect(throws: CancellationError.self) { try await bench.result(of: task) }
        await bench.wait(1)
        #expect(!server.isAdvertising)
        try await bench.result(of: advertise(BroadcastAdvertisement()))
        #expect(server.isAdvertising)
    }

    @Test("A task that advertises gets the result of its own request, not of an earlier one of the app")
    func ownResult() async throws {
        var advertisement = BroadcastAdvertisement()
        advertisement.manufacturerData = Data(repeating: 1, count: 40)
        server.startAdvertising(nil)
        server.stopAdvertising()
        let error = await #expect(throws: CBError.self) { try await bench.result(of: advertise(advertisement)) }
        #expect(error?.code == .invalidParameters)
        #expect(!server.isAdvertising)
    }
}
