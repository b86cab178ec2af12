import BLEHost
import BLEWire
import CoreBluetooth
import Testing

@Suite("Opening and publishing channels")
struct ChannelRequestTests {
    static let opened = OpenedChannel(
        id: ChannelID(rawValue: 7),
        psm: SPSM(wire: 0x80),
        outgoingMTU: 100,
        incomingMTU: 200
    )

    @Test("An opened channel is passed to the delegate with its peer and PSM")
    func opened() async throws {
        let bench = CentralBench()
        let peripheral = await bench.connect()
        peripheral.openL2CAPChannel(0x80)
        #expect(bench.session.take() == [.peer(CentralBench.peer, .openChannel(SPSM(wire: 0x80)))])
        await bench.tell(.channelOpened(SPSM(wire: 0x80), .success(Self.opened)))
        #expect(bench.app.take() == ["channel 128 ok"])
        let channel = try #require(bench.app.channels.first)
        #expect(channel.peer === peripheral)
        #expect(channel.psm == 0x80)
        #expect(channel.inputStream.streamStatus == .notOpen)
        #expect(channel.outputStream.streamStatus == .notOpen)
        #expect("\(channel)".contains("PSM = 128"))
        bench.app.channels = []
        #expect(bench.session.take() == [])
    }

    @Test(
        "A channel that cannot be opened is reported with the reason",
        arguments: [
            (Failure.channel(.spsmNotSupported), "CBError 13"), (.channel(.insufficientResources), "CBError 11"),
            (.channel(.insufficientAuthentication), "CBATTError 5"),
            (.channel(.insufficientAuthorization), "CBATTError 8"),
            (.channel(.encryptionKeySizeTooShort), "CBATTError 12"),
            (.channel(.insufficientEncryption), "CBATTError 15"), (.channel(.unacceptableParameters), "CBError 1"),
            (.channel(.invalidParameters), "CBError 1"), (.channel(.invalidSource), "CBError 0"),
            (.channel(.sourceAlreadyAllocated), "CBError 0"), (.timedOut, "CBError 6"), (.notConnected, "CBError 3"),
            (.hci(.connectionTimeout), "CBError 6"), (.notSupported, "CBError 13"), (.limitReached, "CBError 4"),
            (.peerMisbehaved, "CBError 0"), (.poweredOff, "CBError 3"),
        ]
    )
    func refused(failure: Failure, words: String) async {
        let bench = CentralBench()
        let peripheral = await bench.connect()
        peripheral.openL2CAPChannel(0x80)
        await bench.tell(.channelOpened(SPSM(wire: 0x80), .failure(failure)))
        #expect(bench.app.take() == ["channel 0 \(words)"])
    }

    @Test("An invalid PSM is not requested", arguments: [0, 0x100, 0xFFFF] as [CBL2CAPPSM])
    func invalid(psm: CBL2CAPPSM) async {
        let bench = CentralBench()
        let peripheral = await bench.connect()
        peripheral.openL2CAPChannel(psm)
        await bench.session.settle()
        #expect(bench.session.take() == [])
        #expect(bench.app.take() == ["channel 0 CBError 1"])
    }

    @Test("Without a connection no channel is requested, and a log line tells the app why")
    func notConnected() async {
        let bench = CentralBench()
        let peripheral = await bench.discover()
        peripheral.openL2CAPChannel(0x80)
        #expect(bench.session.take() == [])
        #expect(bench.lines.take().count == 1)
    }

    @Test("A channel that has no delegate or comes too late is closed again")
    func unwanted() async {
        let bench = CentralBench()
        let peripheral = await bench.connect()
        peripheral.delegate = nil
        await bench.tell(.channelOpened(SPSM(wire: 0x80), .success(Self.opened)))
        #expect(bench.session.take() == [.channel(Self.opened.id, .close)])
        await bench.session.tell(.disconnected(CentralBench.peer, nil, isReconnecting: false))
        await bench.tell(.channelOpened(SPSM(wire: 0x80), .success(Self.opened)))
        #expect(bench.session.take() == [.channel(Self.opened.id, .close)])
    }

    @Test("A request is answered if the connection ends first")
    func lostMeanwhile() async {
        let bench = CentralBench()
        let peripheral = await bench.connect()
        peripheral.openL2CAPChannel(0x80)
        await bench.session.tell(
            .disconnected(CentralBench.peer, .hci(.connectionTimeout), isReconnecting: false)
        )
        #expect(bench.app.take() == ["channel 0 CBError 3", "disconnected CBError 6 0"])
    }

    @Test("A peripheral manager publishes channels, receives opened ones, and unpublishes them")
    func offering() async throws {
        let bench = PeripheralBench(), psm = SPSM(wire: 0x81)
        await bench.powerOn()
        bench.manager.publishL2CAPChannel(withEncryption: false)
        bench.manager.publishL2CAPChannel(withEncryption: true)
        #expect(bench.take() == [false, true].map { .server(.publishChannel(encryptionRequired: $0)) })
        await bench.tell(.channelPublished(psm, nil))
        await bench.tell(.channelPublished(.none, .limitReached))
        #expect(bench.app.take() == ["published 129 ok", "published 0 CBError 4"])
        let opened = OpenedChannel(id: ChannelID(rawValue: 1), psm: psm, outgoingMTU: 64, incomingMTU: 64)
        await bench.tell(.channelOpened(opened, by: PeripheralBench.central))
        #expect(bench.app.take() == ["channel 129 ok"])
        let channel = try #require(bench.app.channels.first)
        #expect(channel.peer is CBCentral)
        channel.inputStream.open()
        channel.outputStream.open()
        bench.manager.unpublishL2CAPChannel(0x81)
        #expect(bench.take() == [.server(.unpublishChannel(psm))])
        await bench.tell(.channelUnpublished(psm, nil))
        #expect(bench.app.take() == ["unpublished 129 ok"])
        #expect(bench.session.take() == [.channel(opened.id, .close)])
        #expect(channel.outputStream.streamStatus == .error)
        await bench.tell(.channelUnpublished(psm, .notFound))
        #expect(bench.app.take() == ["unpublished 129 CBError 2"])
    }

    @Test("Before power on no channel is published, and a log line tells the app why")
    func early() {
        let bench = PeripheralBench()
        bench.manager.publishL2CAPChannel(withEncryption: false)
        bench.manager.unpublishL2CAPChannel(0x80)
        #expect(bench.take() == [])
        #expect(bench.lines.take().count == 2)
    }
}
