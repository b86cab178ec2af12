import BLEExplain
import BLERuntime
import BLEWire
import CoreBluetooth

/// The devices in a capture.
@MainActor
struct CapturedDevices {
    private nonisolated static let extensions = [".pcapng", ".btsnoop", ".pklg", ".log", ".cfa"]

    private let path: String
    private let devices: [CapturedDevice]

    /// Returns true if an argument names a capture, and false if it is the name or identifier of a device.
    nonisolated static func isCapture(_ argument: String) -> Bool {
        var isFolder: ObjCBool = false
        return argument.contains("/") || extensions.contains(where: argument.lowercased().hasSuffix)
            || FileManager.default.fileExists(atPath: argument, isDirectory: &isFolder) && !isFolder.boolValue
    }

    /// Reads the devices in a capture.
    ///
    /// - Throws: `CommandError` if the file cannot be read.
    init(path: String) async throws {
        self.path = path
        var recorder = DeviceRecorder()
        try await CaptureInput(path: path, but: []).read { recorder.add($0) }
        devices = recorder.finish()
    }

    /// Returns the device with an address, or the only device.
    ///
    /// Without an address, the hosts whose packets were captured count as devices only if the capture contains no other
    /// device.
    ///
    /// - Parameter address: The beginning of the device's address, or `nil` for the only device.
    /// - Returns: The device.
    /// - Throws: `CommandError` if no device or more than one matches.
    func device(at address: String?) throws -> CapturedDevice {
        let peers = devices.filter { !$0.isHost }, candidates = peers.isEmpty ? devices : peers
        let found = address.map { start in
            devices.filter { $0.address.lowercased().hasPrefix(start.lowercased()) }
        }
        if let device = (found ?? candidates).first, (found ?? candidates).count == 1 { return device }
        guard let first = candidates.first else {
            let reason = "it contains no service discovery. Capture the first connection of an app to the device"
            throw CommandError.unusableFile(path, reason)
        }
        let list = CommandError.list(candidates.map(Self.title))
        guard let address else {
            let advice = "Select one with --address, for example --address \(first.address.prefix(17))"
            throw CommandError.unusableFile(path, "it contains several devices (\(list)). \(advice)")
        }
        let matching = found ?? []
        guard matching.isEmpty else {
            let reason = "it contains several devices whose addresses begin with \(address)"
            let list = CommandError.list(matching.map(Self.title))
            throw CommandError.unusableFile(path, "\(reason) (\(list)). Give more of the address")
        }
        let reason = "it contains no device whose address begins with \(address), only \(list)"
        throw CommandError.unusableFile(path, reason)
    }

    private static func title(_ device: CapturedDevice) -> String {
        device.address + (device.name.map { " (\($0.printable))" } ?? "")
    }
}

extension ClonedDevice {
    /// The services that every host publishes by itself: Generic Access and Generic Attribute.
    private static let ownServices: [BluetoothUUID] = [.short(0x1800), .short(0x1801)]
    /// The bits of the properties that a file cannot contain: Broadcast and Extended Properties.
    private static let unsupported: UInt8 = 0x81

    /// Creates the description of a device in a capture.
    init(_ captured: CapturedDevice) {
        var keys: [String: Any] = ["name": captured.name ?? captured.address]
        let services = captured.services.filter { !Self.ownServices.contains($0.uuid) }
        if let mtu = captured.mtu, 23..<517 ~= mtu { keys["mtu"] = mtu }
        keys.merge(captured.identity.map { Self.address("\($0)", isPublic: $0.kind == .public) } ?? [:]) { $1 }
        let packets = captured.advertisement
        let fields = packets.map {
            MergedAdvertisement(AdvertisementOctets(advertisement: $0.data, scanResponse: $0.scanResponse))
        }
        keys["manufacturerData"] = fields?.manufacturerData?.hexadecimal
        keys["transmitPower"] = fields?.transmitPower.map { Int($0) }
        if let data = fields?.serviceData, !data.isEmpty {
            keys["serviceData"] = data.map { ["uuid": "\($0.service)", "value": $0.data.hexadecimal] }
        }
        self.init(
            keys,
            advertised: fields?.serviceUUIDs.map { CBUUID($0) },
            packets: packets.map {
                .init(data: Data($0.data), scanResponse: Data($0.scanResponse), isLegacy: $0.isLegacy)
            },
            omissions: Self.omissions(captured, services)
        )
        for service in Self.inOrder(services) { add(describe(service)) }
    }

    /// Returns `services` with each service after the services that it includes.
    private static func inOrder(_ services: [CapturedDevice.Service]) -> [CapturedDevice.Service] {
        var ordered: [CapturedDevice.Service] = [], visited: Set<UInt16> = []
        func visit(_ service: CapturedDevice.Service) {
            guard visited.insert(service.handle).inserted else { return }
            for part in services where service.includes.contains(part.uuid) { visit(part) }
            ordered.append(service)
        }
        for service in services { visit(service) }
        return ordered
    }

    private static func omissions(_ device: CapturedDevice, _ services: [CapturedDevice.Service]) -> [String] {
        let characteristics = services.flatMap(\.characteristics)
        let unread =
            characteristics.count { $0.isReadable && $0.value == nil }
            + characteristics.flatMap(\.descriptors).count { $0.value == nil }
        var remarks: [String] = []
        if device.advertisement == nil { remarks.append("The capture contains no advertisement of the device.") }
        if unread > 0 {
            let (verb, pronoun) = unread == 1 ? ("was", "it") : ("were", "them")
            remarks.append(
                "\(unread.withNoun("value")) \(verb) not read in the capture; “known” is false for \(pronoun)."
            )
        }
        if device.variableAnswers > 0 {
            let writes = device.variableAnswers.withNoun("write")
            remarks.append("\(writes) had different answers at different times; these answers are left out.")
        }
        for characteristic in characteristics where characteristic.properties & unsupported != 0 {
            remarks.append(
                "\(characteristic.uuid): properties that the file cannot contain (Broadcast, Extended Properties) are "
                    + "left out."
            )
        }
        return remarks
    }

    private func describe(_ service: CapturedDevice.Service) -> [String: Any] {
        var keys: [String: Any] = ["uuid": "\(service.uuid)"]
        if !service.isPrimary {
            keys["primary"] = false
        } else if let advertised, !advertised.contains(CBUUID(service.uuid)) {
            keys["advertised"] = false
        }
        if !service.includes.isEmpty { keys["includes"] = service.includes.map { "\($0)" } }
        keys["characteristics"] = service.characteristics.map(Self.describe)
        return keys
    }

    private static func describe(_ characteristic: CapturedDevice.Characteristic) -> [String: Any] {
        let properties = CBCharacteristicProperties(rawValue: UInt(characteristic.properties & ~unsupported))
        var keys: [String: Any] = ["uuid": "\(characteristic.uuid)", "properties": properties.names]
        if let value = characteristic.value {
            keys["value"] = value.hexadecimal
        } else if characteristic.isReadable {
            keys["known"] = false
        }
        if characteristic.isProtected { keys["protected"] = true }
        if let sent = characteristic.notifications {
            keys["notify"] = ["every": sent.interval, "values": sent.values.map(\.hexadecimal)] as [String: Any]
        }
        if !characteristic.answers.isEmpty {
            keys["answers"] = characteristic.answers.map { answer -> [String: Any] in
                [
                    "to": answer.written.hexadecimal, "uuid": "\(answer.characteristic)",
                    "value": answer.value.hexadecimal, "after": min(answer.delay, 86_400_000),
                ]
            }
        }
        if !characteristic.descriptors.isEmpty {
            keys["descriptors"] = characteristic.descriptors.map { descriptor -> [String: Any] in
                guard let value = descriptor.value else { return ["uuid": "\(descriptor.uuid)", "known": false] }
                return ["uuid": "\(descriptor.uuid)", "value": value.hexadecimal]
            }
        }
        return keys
    }
}

extension CapturedDevice.Characteristic {
    fileprivate var isReadable: Bool { properties & 0x02 != 0 }
}
