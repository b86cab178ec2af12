import BLEController
import BLEWire

/// Makes up commands that are well formed and often make sense: few handles, sets, addresses and short times.
struct CommandGenerator {
    private var random: SeededGenerator

    init(seed: UInt64) { random = SeededGenerator(seed: seed &+ 77) }

    private mutating func number(_ bound: Int64) -> Int64 { random.below(bound) }
    private mutating func flag() -> Bool { random.happens(0.5) }
    private mutating func address() -> DeviceAddress { Bench.address(Int(number(6))) }

    private mutating func key() -> Key128 { flag() ? .zero : Bench.key(Int(number(6))) }
    private mutating func own() -> HCI.OwnAddress { HCI.OwnAddress(rawValue: UInt8(number(4))) ?? .public }
    private mutating func policy() -> HCI.ScanFilterPolicy {
        HCI.ScanFilterPolicy(rawValue: UInt8(number(4))) ?? .everyone
    }

    private mutating func handle() -> ConnectionHandle {
        guard let handle = ConnectionHandle(wire: UInt16(number(8))) else { return .lowest }
        return handle
    }

    private mutating func data(_ bound: Int64) -> [UInt8] {
        (0..<number(bound)).map { UInt8(truncatingIfNeeded: $0) }
    }

    private mutating func parameters() -> HCI.ConnectionParameters {
        Bench.parameters(
            interval: UInt16(6 + number(40)),
            latency: UInt16(number(6)),
            timeout: UInt16(10 + number(200))
        )
    }

    private mutating func phys() -> PHYSet { PHYSet(wire: UInt8(number(9))) }

    /// Draws a command.
    mutating func next() -> HCICommandPacket {
        // One host in two uses extended commands, as far as its board lets it.
        switch number(5) {
        case 0: link()
        case 1: list()
        case 2: legacy()
        case 3: extended()
        default: number(60) == 0 ? .reset : .leRand
        }
    }

    private mutating func link() -> HCICommandPacket {
        switch number(9) {
        case 0: .disconnect(.init(handle: handle(), reason: flag() ? .remoteUserTerminatedConnection : .success))
        case 1: .leConnectionUpdate(.init(handle: handle(), parameters: parameters()))
        case 2: .leSetPHY(.init(handle: handle(), transmit: phys(), receive: phys()))
        case 3: .leSetDataLength(.init(handle: handle(), octets: UInt16(number(300)), time: UInt16(number(20_000))))
        case 4: .leReadRemoteFeatures(.init(handle: handle()))
        case 5: .readRemoteVersionInformation(.init(handle: handle()))
        case 6: .leSetHostChannelClassification(.init(channels: UInt64(number(1 << 38))))
        case 7: .leRemoteConnectionParameterRequestReply(.init(handle: handle(), parameters: parameters()))
        default: .readRSSI(.init(handle: handle()))
        }
    }

    private mutating func list() -> HCICommandPacket {
        switch number(10) {
        case 0: .leAddDeviceToFilterAcceptList(.init(address: address()))
        case 1: .leRemoveDeviceFromFilterAcceptList(.init(address: address()))
        case 2: .leClearFilterAcceptList
        case 3: .leAddDeviceToResolvingList(.init(identity: address(), peerKey: key(), localKey: key()))
        case 4: .leSetRandomAddress(.init(address: DeviceAddress(UInt64(number(100)), .random)))
        case 5: .leRemoveDeviceFromResolvingList(.init(identity: address()))
        case 6: .leSetPrivacyMode(.init(identity: address(), mode: flag() ? .device : .network))
        case 7: .leReadLocalResolvableAddress(.init(identity: address()))
        case 8: .leSetResolvablePrivateAddressTimeout(.init(timeout: .init(wire: UInt16(1 + number(9))) ?? .standard))
        default: .leSetAddressResolutionEnable(.init(enable: flag()))
        }
    }

    private mutating func legacy() -> HCICommandPacket {
        let interval = ScanInterval(.milliseconds(10))
        switch number(7) {
        case 0:
            let type = HCI.AdvertisingType(rawValue: UInt8(number(5))) ?? .connectable
            return .leSetAdvertisingParameters(
                .init(minimum: Bench.interval, maximum: Bench.interval, type: type, ownAddress: own(), peer: address())
            )
        case 1: return .leSetAdvertisingEnable(.init(enable: flag()))
        case 2: return .leSetScanResponseData(.init(data: data(31)))
        case 3:
            let type: HCI.ScanType = flag() ? .active : .passive
            return .leSetScanParameters(
                .init(type: type, interval: interval, window: interval, ownAddress: own(), policy: policy())
            )
        case 4: return .leSetScanEnable(.init(enable: flag(), filterDuplicates: flag()))
        case 5:
            return .leCreateConnection(
                .init(
                    interval: interval,
                    window: interval,
                    policy: flag() ? .peer : .acceptList,
                    peer: address(),
                    ownAddress: own(),
                    parameters: parameters()
                )
            )
        default: return .leCreateConnectionCancel
        }
    }

    private mutating func extended() -> HCICommandPacket {
        let set = UInt8(number(3))
        switch number(7) {
        case 0:
            let properties = HCI.AdvertisingProperties(rawValue: UInt16(number(flag() ? 128 : 4)))
            let phy = PHY(wire: UInt8(1 + number(3)))
            return .leSetExtendedAdvertisingParameters(
                Bench.parameters(set, properties, secondary: phy, own: own(), peer: address())
            )
        case 1:
            let operation = HCI.DataOperation(rawValue: UInt8(number(5))) ?? .complete
            return .leSetExtendedAdvertisingData(.init(set: Bench.set(set), operation: operation, data: data(251)))
        case 2: return .leSetExtendedScanResponseData(.init(set: Bench.set(set), data: data(251)))
        case 3:
            let duration = EnableDuration(wire: UInt16(number(200)))
            let entry = HCI.LESetExtendedAdvertisingEnable.Entry(set: Bench.set(set), duration: duration)
            return .leSetExtendedAdvertisingEnable(.init(enable: flag(), sets: [entry]))
        case 4:
            let interval = ScanInterval(.milliseconds(10))
            let scan = HCI.LESetExtendedScanParameters.Scan(type: .active, interval: interval, window: interval)
            return .leSetExtendedScanParameters(
                .init(ownAddress: own(), policy: policy(), le1M: scan, leCoded: flag() ? scan : nil)
            )
        case 5:
            return .leSetExtendedScanEnable(
                .init(
                    enable: flag(),
                    filterDuplicates: .resetEachPeriod,
                    duration: .init(wire: UInt16(number(150))),
                    period: .init(wire: UInt16(number(3)))
                )
            )
        default:
            let interval = ScanInterval(.milliseconds(10))
            let terms = HCI.LEExtendedCreateConnection.Initiation(
                interval: interval,
                window: interval,
                parameters: parameters()
            )
            return .leExtendedCreateConnection(
                .init(
                    policy: flag() ? .peer : .acceptList,
                    ownAddress: own(),
                    peer: address(),
                    le1M: terms,
                    le2M: flag() ? terms : nil,
                    leCoded: flag() ? terms : nil
                )
            )
        }
    }
}
