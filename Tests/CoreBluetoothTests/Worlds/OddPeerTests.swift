import BLERuntime
import BLEWire
import Testing

@testable import BLEHost
@testable import BLESimulation
@testable import CoreBluetooth

/// Peripherals that do what the specification does not allow, or hardly ever comes up.
@Suite("Misbehaving peripherals")
struct OddPeerTests {
    @Test(
        "A malformed response fails only its own request, and characteristics can still be found and read",
        .behaviour("4.4.6", "2.2.10"),
        arguments: UInt64(0)..<16
    )
    func malformed(seed: UInt64) async throws {
        let bench = WorldBench(seed: seed, loss: 0.1)
        bench.sensor.distort { pdu in if pdu.first == 0x05 { pdu.removeLast() } }
        let peripheral = try #require(await bench.connect(.fixed("FFF1", [7]), .dynamic("FFF2", .notify)))
        let found = try #require(peripheral.characteristic("FFF1"))
        #expect(peripheral.services?.first?.characteristics?.count == 2)
        peripheral.discoverDescriptors(for: try #require(peripheral.characteristic("FFF2")))
        peripheral.readValue(for: found)
        await bench.wait()
        #expect(bench.app.take() == ["descriptors FFF2 CBError 0", "value FFF1 [7] ok"])
    }

    @Test("A characteristic without a configuration descriptor cannot be subscribed to", .behaviour("1.6.21"))
    func unconfigurable() async throws {
        let bench = WorldBench()
        bench.sensor.distort { pdu in
            // Reported as a descriptor of another type.
            guard pdu.first == 0x05 else { return }
            for place in pdu.indices.dropLast() where pdu[place] == 0x02 && pdu[place + 1] == 0x29 { pdu[place] = 0x09 }
        }
        let peripheral = try #require(await bench.connect(.dynamic("FFF1", .notify)))
        let found = try #require(peripheral.characteristic("FFF1"))
        peripheral.setNotifyValue(true, for: found)
        await bench.wait()
        #expect(bench.app.take() == ["notifying false CBATTError 10"])
        #expect(!found.isNotifying)
    }

    @Test(
        "If a peripheral cannot read long values, the part that was read is delivered",
        .behaviour("1.6.22"),
        arguments: [ATT.ErrorCode.requestNotSupported, .attributeNotLong, .invalidOffset]
    )
    func unreadable(code: ATT.ErrorCode) async throws {
        let bench = WorldBench(phoneMTU: 23), value = Data(0..<22)
        bench.sensor.distort { pdu in if pdu.first == 0x0D { pdu = [0x01, 0x0C, 0, 0, code.wire] } }
        let peripheral = try #require(await bench.connect(.fixed("FFF1", [UInt8](value))))
        let found = try #require(peripheral.characteristic("FFF1"))
        peripheral.readValue(for: found)
        await bench.wait()
        #expect(found.value == value)
        #expect(bench.app.take() == ["value FFF1 \([UInt8](value)) ok"])
    }

    @Test("An error without a reason is still an error", .behaviour("2.2.7"))
    func noReason() async throws {
        let bench = WorldBench()
        bench.sensor.distort { pdu in if pdu.first == 0x0B { pdu = [0x01, 0x0A, 0, 0, 0] } }
        let peripheral = try #require(await bench.connect(.fixed("FFF1", [7])))
        peripheral.readValue(for: try #require(peripheral.characteristic("FFF1")))
        await bench.wait()
        #expect(bench.app.take() == ["value FFF1 [] CBATTError 14"])
    }

    @Test("An oversized notification is truncated to the maximum length", .behaviour("1.7.11"))
    func oversized() async throws {
        let bench = WorldBench(), sending = CBMutableCharacteristic.dynamic("FFF1", .notify)
        bench.sensor.distort { pdu in if pdu.first == 0x1B { pdu += [1, 2] } }
        let peripheral = try #require(await bench.connect(sending))
        let found = try #require(peripheral.characteristic("FFF1"))
        peripheral.setNotifyValue(true, for: found)
        await bench.wait()
        let value = Data((0..<512).map { UInt8(truncatingIfNeeded: $0) })
        #expect(bench.server.updateValue(value, for: sending, onSubscribedCentrals: nil))
        await bench.wait()
        #expect(found.value == value)
    }

    @Test(
        "Service changes indicated hundreds of times a second are reported only when they are news",
        .behaviour("2.2.11"),
        arguments: UInt64(0)..<16
    )
    func flood(seed: UInt64) async throws {
        let bench = WorldBench(seed: seed)
        let peripheral = try #require(await bench.connect(.fixed("FFF1", [7])))
        await bench.wait(5)
        for _ in 0..<300 {
            bench.sensor.tellOfChanges()
            await bench.world.advance(by: .milliseconds(3))
        }
        await bench.wait()
        #expect(bench.app.take() == [#"modified ["FFF0"]"#])
        // An app that looks again whenever it is told hears no more often than it finds something.
        bench.app.reactions = [("modified", { peripheral.discoverServices(nil) })]
        peripheral.discoverServices(nil)
        await bench.wait()
        for _ in 0..<300 {
            bench.sensor.tellOfChanges()
            await bench.world.advance(by: .milliseconds(3))
        }
        await bench.wait(5)
        let calls = bench.app.take()
        #expect(calls.allSatisfy { $0 == "services ok" || $0 == #"modified ["FFF0"]"# })
        #expect(calls.count { $0 == "services ok" } == calls.count / 2 + 1 && calls.count < 300)
        #expect(peripheral.services?.map(\.uuid.uuidString) == ["FFF0"])
    }

    @Test("Included services keep the peripheral's order", .behaviour("1.6.8"))
    func includedOrder() async throws {
        let bench = WorldBench()
        let parts = ["FFE1", "FFE0"].map { CBMutableService(type: CBUUID(string: $0), primary: false) }
        let whole = CBMutableService(type: CBUUID(string: "FFE2"), primary: true)
        whole.includedServices = parts
        await bench.publish(.fixed("FFF1", [7]))
        for service in parts.reversed() + [whole] { bench.server.add(service) }
        let peripheral = try #require(await bench.find())
        bench.central.connect(peripheral)
        await bench.wait(5)
        peripheral.discoverServices([whole.uuid])
        await bench.wait()
        let found = try #require(peripheral.services?.first)
        peripheral.discoverIncludedServices(nil, for: found)
        await bench.wait()
        #expect(found.includedServices?.map(\.uuid.uuidString) == ["FFE1", "FFE0"])
    }

    @Test("An invalid channel response does not end the connection", .behaviour("1.6.18"))
    func misopened() async throws {
        let bench = WorldBench()
        // A response that opens the channel and gives it no name.
        bench.sensor.distort(.leSignaling) { signal in
            if signal.first == 0x15 { signal.replaceSubrange(4..<6, with: [0, 0]) }
        }
        #expect(await bench.openChannel() == nil)
        #expect(bench.app.take() == ["channel 0 CBError 0"])
        #expect(bench.app.peripherals.first?.state == .connected)
    }
}

extension CBMutableCharacteristic {
    /// A value that can be read and does not change.
    fileprivate static func fixed(_ uuid: String, _ value: [UInt8]) -> CBMutableCharacteristic {
        CBMutableCharacteristic(
            type: CBUUID(string: uuid),
            properties: .read,
            value: Data(value),
            permissions: .readable
        )
    }
}

extension Machine {
    /// Changes what the host of this machine sends on a channel, in packets that one fragment holds.
    fileprivate func distort(
        _ channel: ChannelIdentifier = .attribute,
        _ change: @escaping @Sendable (inout [UInt8]) -> Void
    ) {
        world.core.withLock { core in
            core.stations[index].packetModifier = { packet in
                guard packet.first == HCI.PacketType.acl.wire, packet.count > 9,
                    UInt16(packet[7]) | UInt16(packet[8]) << 8 == channel.wire,
                    Int(packet[5]) | Int(packet[6]) << 8 == packet.count - 9
                else { return }
                var payload = [UInt8](packet[9...])
                change(&payload)
                let length = UInt16(payload.count), whole = (length + 4).littleEndianOctets
                packet = packet[..<3] + whole + length.littleEndianOctets + packet[7..<9] + payload
            }
        }
    }

    /// Tells all that are connected that any service may have changed.
    fileprivate func tellOfChanges() {
        world.core.withLock { core in
            core.stations[index].host.withLayers(at: core.now) { attributes, _ in
                let value = attributes.database.attributes.first { $0.type == GATT.serviceChanged }
                guard let handle = value?.handle else { return }
                for link in attributes.links.map(\.handle) {
                    attributes.send([1, 0, 0xFF, 0xFF], of: handle, .indications, on: link, at: core.now)
                }
            }
            core.markDirty(index)
        }
    }
}
