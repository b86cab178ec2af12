import BLESimulation
import CoreBluetooth
import Testing

@Suite("Channels on a simulated air")
struct ChannelWorldTests {
    /// Which end of a channel.
    enum Role: CaseIterable { case central, peripheral }

    @Test("Data arrives unchanged in both directions, however lossy the air", arguments: UInt64(0)..<16)
    func exchange(seed: UInt64) async throws {
        let bench = WorldBench(seed: seed, loss: 0.2)
        let (near, far) = try #require(await bench.openChannel())
        let ends = (BulkEnd(near, length: 6000, salt: 0), BulkEnd(far, length: 5000, salt: 1))
        await bench.wait(20)
        #expect(ends.0.received == 5000 && ends.1.received == 6000)
        #expect(ends.0.isIntact && ends.1.isIntact)
        #expect(!ends.0.hasEnded && !ends.1.hasEnded)
    }

    @Test(
        "Streams on threads' run loops carry all data in order, and runs of a seed are identical",
        arguments: 0..<4 as Range<UInt64>
    )
    func threads(seed: UInt64) async throws {
        #expect(try await carryOnThreads(seed: seed) == carryOnThreads(seed: seed))
    }

    /// Carries octets between ends that are told on threads of their own; what went through the air.
    private func carryOnThreads(seed: UInt64) async throws -> UInt64 {
        let threads = (LoopThread(), LoopThread()), bench = WorldBench(seed: seed, loss: 0.1)
        let (near, far) = try #require(await bench.openChannel())
        let first = BulkEnd(near, length: 20_000, salt: 0, on: threads.0.loop)
        await bench.wait(0)
        let second = BulkEnd(far, length: 20_000, salt: 1, on: threads.1.loop)
        await bench.wait(20)
        #expect(first.received == 20_000 && second.received == 20_000)
        #expect(first.isIntact && second.isIntact)
        threads.0.stop()
        threads.1.stop()
        return bench.world.traceHash
    }

    @Test("Large amounts are carried both ways at the same time, with little buffered in between")
    func bulk() async throws {
        let bench = WorldBench(seed: 11), length = 1 << 18
        let (near, far) = try #require(await bench.openChannel())
        let ends = (BulkEnd(near, length: length, salt: 0), BulkEnd(far, length: length, salt: 1))
        for _ in 0..<200 where ends.0.received < length || ends.1.received < length {
            await bench.world.advance(by: .milliseconds(100))
            #expect(ends.0.sent - ends.1.received < 200_000 && ends.1.sent - ends.0.received < 200_000)
        }
        #expect(ends.0.received == length && ends.1.received == length)
        #expect(ends.0.isIntact && ends.1.isIntact)
    }

    @Test(
        "A reader in either role that stops reading blocks the writer, who continues when it resumes",
        arguments: Role.allCases
    )
    func backPressure(reading: Role) async throws {
        let bench = WorldBench(seed: 12)
        let (visitor, server) = try #require(await bench.openChannel())
        let (near, far) = reading == .peripheral ? (visitor, server) : (server, visitor)
        near.outputStream.open()
        far.inputStream.open()
        let all = (0..<400_000).map { BulkEnd.octet($0, 0) }
        var written = 0
        for _ in 0..<20 {
            written += near.outputStream.write(all[written...])
            await bench.wait(1)
        }
        #expect(!near.outputStream.hasSpaceAvailable)
        #expect(written < 300_000)
        let stuck = written
        await bench.wait(10)
        #expect(near.outputStream.write(all[written...]) == 0)
        var read: [UInt8] = []
        for _ in 0..<100 where read.count < all.count {
            read += far.inputStream.readAll()
            written += near.outputStream.write(all[written...])
            await bench.wait(1)
        }
        #expect(written > stuck)
        #expect(read == all)
    }

    @Test(
        "Data written before both streams are closed or the channel is released is delivered",
        arguments: [true, false]
    )
    func lastWords(closes: Bool) async throws {
        let bench = WorldBench(seed: 13, loss: 0.2)
        var (near, far): (CBL2CAPChannel?, CBL2CAPChannel) = try #require(await bench.openChannel())
        far.inputStream.open()
        far.outputStream.open()
        near?.outputStream.open()
        let all = (0..<60_000).map { BulkEnd.octet($0, 0) }
        #expect(near?.outputStream.write(all) == all.count)
        if closes {
            near?.inputStream.close()
            near?.outputStream.close()
        }
        near = nil
        bench.app.channels = []
        var read: [UInt8] = []
        for _ in 0..<40 where far.inputStream.streamStatus != .atEnd {
            await bench.wait(1)
            read += far.inputStream.readAll()
        }
        #expect(read == all)
        #expect(far.inputStream.streamStatus == .atEnd && far.outputStream.streamStatus == .atEnd)
    }

    @Test("A channel whose link is lost fails at both ends")
    func linkLost() async throws {
        let bench = WorldBench(seed: 14)
        let (near, far) = try #require(await bench.openChannel())
        let ends = (BulkEnd(near, length: 0, salt: 0), BulkEnd(far, length: 0, salt: 1))
        bench.world.separate(bench.phone, bench.sensor)
        await bench.wait(10)
        #expect(ends.0.hasEnded && ends.1.hasEnded)
        #expect((near.inputStream.streamError as? CBError)?.code == .connectionTimeout)
        #expect((far.outputStream.streamError as? CBError)?.code == .connectionTimeout)
    }

    @Test("A channel fails when a radio is lost, and when the central disconnects")
    func left() async throws {
        let bench = WorldBench(seed: 15)
        let (near, far) = try #require(await bench.openChannel())
        for stream in [near.inputStream, near.outputStream, far.inputStream] as [Stream] { stream.open() }
        bench.phone.unplugRadio()
        await bench.wait(10)
        #expect((near.inputStream.streamError as? CBError)?.code == .notConnected)
        #expect(far.inputStream.streamStatus == .error)
        let other = WorldBench(seed: 16)
        let (mine, theirs) = try #require(await other.openChannel())
        for stream in [mine.inputStream, theirs.inputStream] as [Stream] { stream.open() }
        other.central.cancelPeripheralConnection(try #require(mine.peer as? CBPeripheral))
        await other.wait()
        #expect([.atEnd, .error].contains(mine.inputStream.streamStatus))
        #expect([.atEnd, .error].contains(theirs.inputStream.streamStatus))
    }

    @Test("A PSM that was never published is refused, and so is one that was unpublished")
    func refused() async throws {
        let bench = WorldBench(seed: 17)
        let (near, far) = try #require(await bench.openChannel())
        far.inputStream.open()
        near.inputStream.open()
        let peripheral = try #require(near.peer as? CBPeripheral), psm = near.psm
        _ = bench.app.take()
        peripheral.openL2CAPChannel(psm == 0x80 ? 0x81 : 0x80)
        await bench.wait()
        #expect(bench.app.take() == ["channel 0 CBError 13"])
        bench.server.unpublishL2CAPChannel(psm)
        await bench.wait()
        #expect(bench.serverApp.take().last == "unpublished \(psm) ok")
        #expect(near.inputStream.streamStatus == .atEnd)
        #expect((far.inputStream.streamError as? CBError)?.code == .operationCancelled)
        peripheral.openL2CAPChannel(psm)
        await bench.wait()
        #expect(bench.app.take() == ["channel 0 CBError 13"])
    }

    @Test("A channel that requires encryption can be opened by a device that pairs")
    func encrypted() async throws {
        let bench = WorldBench(seed: 18)
        let peripheral = try #require(await bench.connect())
        bench.server.publishL2CAPChannel(withEncryption: true)
        await bench.wait()
        peripheral.openL2CAPChannel(bench.serverApp.psm)
        await bench.wait(5)
        #expect(bench.app.take().last == "channel \(bench.serverApp.psm) ok")
    }

    @Test("Several channels of one connection, to the same PSM and to others, do not interfere")
    func several() async throws {
        let bench = WorldBench(seed: 19)
        let (near, far) = try #require(await bench.openChannel())
        let peripheral = try #require(near.peer as? CBPeripheral)
        bench.server.publishL2CAPChannel(withEncryption: false)
        await bench.wait()
        peripheral.openL2CAPChannel(near.psm)
        peripheral.openL2CAPChannel(bench.serverApp.psm)
        await bench.wait()
        #expect(bench.serverApp.psm != near.psm)
        #expect(bench.app.channels.map(\.psm) == [near.psm, near.psm, bench.serverApp.psm])
        #expect(bench.serverApp.channels.map(\.psm) == bench.app.channels.map(\.psm))
        var ends: [(BulkEnd, BulkEnd)] = []
        for (mine, theirs) in zip(bench.app.channels, bench.serverApp.channels) {
            ends.append((BulkEnd(mine, length: 9000, salt: 0), BulkEnd(theirs, length: 8000, salt: 1)))
        }
        await bench.wait(10)
        for (mine, theirs) in ends {
            #expect(mine.received == 8000 && theirs.received == 9000 && mine.isIntact && theirs.isIntact)
        }
        #expect(far.peer is CBCentral)
    }

    @Test("Streams on the main run loop work in a world driven by the main actor")
    @MainActor func mainQueue() async throws {
        let bench = WorldBench(seed: 20, queue: .main)
        let (near, far) = try #require(await bench.openChannel())
        let ends = (BulkEnd(near, length: 3000, salt: 0), BulkEnd(far, length: 2000, salt: 1))
        await bench.wait(5)
        #expect(ends.0.received == 2000 && ends.1.received == 3000 && ends.0.isIntact && ends.1.isIntact)
    }
}
