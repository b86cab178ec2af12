import BLESimulation
import Testing

@testable import CoreBluetooth

@Suite("Apps' view of L2CAP channels")
struct ChannelBehaviourTests {
    let bench = WorldBench()

    @Test(
        "A published channel has a dynamic PSM, and an opened one has unopened streams at both ends",
        .behaviour("1.3.17", "1.6.18", "1.9.1", "2.3.12"),
        arguments: UInt64(0)..<16
    )
    func opened(seed: UInt64) async throws {
        let bench = WorldBench(seed: seed, loss: 0.2)
        let peripheral = try #require(await bench.connect())
        bench.server.publishL2CAPChannel(withEncryption: false)
        await bench.wait()
        let psm = bench.serverApp.psm
        #expect(bench.serverApp.take() == ["published \(psm) ok"])
        #expect((0x80...0xFF).contains(psm))
        peripheral.openL2CAPChannel(psm)
        await bench.wait(5)
        #expect(bench.app.take() == ["channel \(psm) ok"])
        #expect(bench.serverApp.take() == ["channel \(psm) ok"])
        let near = try #require(bench.app.channels.first), far = try #require(bench.serverApp.channels.first)
        #expect(near.peer === peripheral)
        #expect(far.peer is CBCentral)
        for stream in [near.inputStream, near.outputStream, far.inputStream, far.outputStream] as [Stream] {
            #expect(stream.streamStatus == .notOpen)
        }
        near.outputStream.open()
        far.inputStream.open()
        #expect(near.outputStream.write([1, 2, 3]) == 3)
        await bench.wait()
        #expect(far.inputStream.readAll() == [1, 2, 3])
    }

    @Test("Unpublishing a channel ends it, and it cannot be opened again", .behaviour("1.3.17", "1.6.18"))
    func unpublished() async throws {
        let (near, far) = try #require(await bench.openChannel())
        let peripheral = try #require(near.peer as? CBPeripheral)
        near.inputStream.open()
        far.inputStream.open()
        _ = (bench.app.take(), bench.serverApp.take())
        bench.server.unpublishL2CAPChannel(near.psm)
        await bench.wait()
        #expect(bench.serverApp.take() == ["unpublished \(near.psm) ok"])
        #expect(near.inputStream.streamStatus == .atEnd)
        #expect(far.inputStream.streamStatus == .error)
        peripheral.openL2CAPChannel(near.psm)
        await bench.wait()
        #expect(bench.app.take() == ["channel 0 CBError 13"])
        bench.server.publishL2CAPChannel(withEncryption: true)
        await bench.wait()
        peripheral.openL2CAPChannel(bench.serverApp.psm)
        await bench.wait()
        #expect(bench.app.take() == ["channel \(bench.serverApp.psm) ok"])
    }

    @Test("A published channel keeps its PSM while Bluetooth is switched off and on", .behaviour("1.3.19"))
    func switchedOff() async throws {
        let (near, far) = try #require(await bench.openChannel()), psm = near.psm
        far.inputStream.open()
        _ = bench.serverApp.take()
        bench.sensor.switchBluetoothOff()
        await bench.wait(10)
        #expect(far.inputStream.streamStatus == .error)
        bench.sensor.switchBluetoothOn()
        await bench.wait()
        #expect(bench.serverApp.take() == ["state 4", "state 5"])
        #expect(try await openAnew(near) == ["connected 2", "channel \(psm) ok"])
        bench.server.unpublishL2CAPChannel(psm)
        await bench.wait()
        #expect(bench.serverApp.take() == ["channel \(psm) ok", "unpublished \(psm) ok"])
    }

    @Test("A state below powered off removes a published channel", .behaviour("1.3.19"))
    func reset() async throws {
        let (near, _) = try #require(await bench.openChannel())
        bench.sensor.unplugRadio()
        await bench.wait(10)
        bench.sensor.plugInRadio()
        await bench.wait()
        bench.server.startAdvertising(nil)
        #expect(try await openAnew(near) == ["connected 2", "channel 0 CBError 13"])
    }

    /// Connects to the peripheral of a channel that has ended and opens it once more: what the app hears of that.
    private func openAnew(_ channel: CBL2CAPChannel) async throws -> [String] {
        let peripheral = try #require(channel.peer as? CBPeripheral)
        _ = bench.app.take()
        bench.central.connect(peripheral)
        await bench.wait(5)
        peripheral.openL2CAPChannel(channel.psm)
        await bench.wait()
        return bench.app.take()
    }

    @Test("A channel without references is closed", .behaviour("1.9.2"))
    func letGo() async throws {
        var (near, far): (CBL2CAPChannel?, CBL2CAPChannel) = try #require(await bench.openChannel())
        far.inputStream.open()
        await bench.wait()
        #expect(far.inputStream.streamStatus == .open)
        weak let gone = near
        near = nil
        bench.app.channels = []
        #expect(gone == nil)
        await bench.wait()
        #expect(far.inputStream.streamStatus == .atEnd)
    }
}
