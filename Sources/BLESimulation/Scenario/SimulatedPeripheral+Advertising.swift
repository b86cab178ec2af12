import BLEHost
import BLEWire

extension SimulatedPeripheral {
    /// The reason why a description cannot be used, and the key with the error.
    public struct DescriptionError: Error, Hashable, Sendable, CustomStringConvertible {
        /// The key that has the error, as in a file, such as "manufacturerData".
        public let key: String
        /// The reason, as a part of a sentence.
        public let reason: String

        /// The key, and the reason.
        public var description: String { "“\(key)”: \(reason)" }
    }

    /// The flags that devices usually advertise: general discoverable, without Bluetooth Classic.
    package static var usualFlags: UInt8 { BroadcastRequest.usualFlags.rawValue }

    /// Checks the UUIDs of services, characteristics and service data, the length of the name, the passkey, and the
    /// advertising properties.
    ///
    /// A description in a file is checked when the file is read; any other description is checked when the device is
    /// placed in a ``World``.
    ///
    /// - Throws: The first key with an error, and the reason.
    public func validate() throws(DescriptionError) {
        for uuid in services.flatMap({ [$0.uuid] + $0.characteristics.map(\.uuid) }) where BluetoothUUID(uuid) == nil {
            throw DescriptionError(key: "services", reason: "“\(uuid)” is not a UUID")
        }
        for datum in serviceData where BluetoothUUID(datum.service) == nil {
            throw DescriptionError(key: "serviceData", reason: "“\(datum.service)” is not a UUID")
        }
        guard name.utf8.count <= Self.nameLimit else {
            let reason = "a name has at most \(Self.nameLimit) octets, but this one has \(name.utf8.count)"
            throw DescriptionError(key: "name", reason: reason)
        }
        if let passkey = pairing?.passkey, !(0...999_999 ~= passkey) {
            throw DescriptionError(key: "pairing", reason: "the passkey must be from 0 to 999999, not \(passkey)")
        }
        if packets != nil, let key = fieldBesidePackets {
            let reason = "“advertisement” and “scanResponse” replace this key; leave it out"
            throw DescriptionError(key: key, reason: reason)
        }
        if let error = advertisingRequest.error { throw DescriptionError(error) }
    }

    /// Ends the process if the description is not valid.
    func requireValid() {
        do throws(DescriptionError) {
            try validate()
        } catch {
            preconditionFailure("the description of the device “\(name)” must be valid (\(error))")
        }
    }

    /// The maximum length of the Device Name characteristic, in octets.
    private static let nameLimit = 248

    /// The octets of the advertisement and the scan response; `nil` if neither is given.
    private var packets: AdvertisementOctets? {
        guard advertisement != nil || scanResponse != nil else { return nil }
        return AdvertisementOctets(advertisement: advertisement ?? [], scanResponse: scanResponse ?? [])
    }

    /// The key of the first advertising property that differs from its default; `nil` if there is none.
    ///
    /// A description with an ``advertisement`` or a ``scanResponse`` is valid only if the value is `nil`.
    private var fieldBesidePackets: String? {
        if manufacturerData != nil { return "manufacturerData" }
        if !serviceData.isEmpty { return "serviceData" }
        if transmitPower != nil { return "transmitPower" }
        if !advertisesName { return "advertisesName" }
        return flags != Self.usualFlags ? "flags" : nil
    }

    /// True if a Core Bluetooth app could send the same advertisement: a name and services, with all other advertising
    /// properties at their defaults.
    ///
    /// The host then treats the advertisement as an app's, so the limits of Core Bluetooth apply to it.
    package var isAdvertisedByApps: Bool {
        packets == nil && fieldBesidePackets == nil && !isExtended && isConnectable && advertisingInterval == nil
    }

    /// The octets of the advertisement and the scan response as they are sent; `nil` if the description is not valid.
    package var advertisedOctets: (advertisement: [UInt8], scanResponse: [UInt8])? {
        guard (try? validate()) != nil, let octets = advertisingRequest.octets else { return nil }
        return (Array(octets.advertisement), Array(octets.scanResponse))
    }

    /// The advertising request to the device's host.
    var advertisingRequest: AdvertisingRequest {
        var request = AdvertisingRequest(localName: advertisesName ? name : nil, services: [])
        request.services = services.filter { $0.isAdvertised && $0.isPrimary }.compactMap { BluetoothUUID($0.uuid) }
        guard !isAdvertisedByApps else { return request }
        var broadcast = BroadcastRequest()
        broadcast.isConnectable = isConnectable
        broadcast.isExtended = isExtended
        if let advertisingInterval { broadcast.interval = advertisingInterval }
        if let packets {
            broadcast.octets = packets
            (request.localName, request.services) = (nil, [])
        } else {
            broadcast.flags = flags.map(ADFlags.init)
            broadcast.manufacturerData = manufacturerData
            broadcast.serviceData = serviceData.compactMap { datum in
                BluetoothUUID(datum.service).map { AdvertisingData.ServiceData(service: $0, data: datum.value) }
            }
            broadcast.statedPower = transmitPower
        }
        request.broadcast = broadcast
        return request
    }
}

extension SimulatedPeripheral.DescriptionError {
    fileprivate init(_ error: AdvertisingRequestError) {
        let (key, cure) =
            switch error.field {
            case .localName: ("name", "; choose a shorter name, or set “advertisesName” to false")
            case .services: ("services", "; set “advertised” to false in some services")
            case .serviceData: ("serviceData", "")
            case .manufacturerData: ("manufacturerData", "")
            case .statedPower: ("transmitPower", "")
            case .advertisement, .structures: ("advertisement", "")
            case .scanResponse: ("scanResponse", "")
            }
        self.init(key: key, reason: error.reason + cure)
    }
}
