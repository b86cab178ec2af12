package import BLEWire

/// The reason why a client's request cannot be advertised, and the field that causes it.
package struct AdvertisingRequestError: Error, Equatable, Sendable {
    /// A part of an ``AdvertisingRequest``.
    package enum Field: Equatable, Sendable {
        case localName, services, serviceData, manufacturerData, statedPower, structures
        /// The complete data of one packet, if the client has set ``BroadcastRequest/octets``.
        case advertisement, scanResponse
    }

    package let field: Field
    /// The reason, worded to follow the name of the field, such as "it has 32 octets, and this packet holds at most
    /// 31".
    package let reason: String

    init(_ field: Field, _ reason: String) {
        self.field = field
        self.reason = reason
    }
}

extension AdvertisingRequest {
    /// The maximum length of a name, in octets; the same as for the Device Name characteristic.
    private static let nameLimit = 248
    private static let servicesLimit = 128

    /// The reason why this request cannot be advertised; `nil` if it can.
    package var error: AdvertisingRequestError? {
        if let count = localName?.utf8.count, count > Self.nameLimit {
            return AdvertisingRequestError(
                .localName,
                "a name has at most \(Self.nameLimit) octets, but this one has \(count)"
            )
        }
        guard services.count <= Self.servicesLimit else {
            return AdvertisingRequestError(.services, "more than \(Self.servicesLimit) services are advertised")
        }
        guard let broadcast else { return nil }
        do throws(AdvertisingRequestError) {
            _ = try AdvertisementContent(packing: self, broadcast)
            return nil
        } catch {
            return error
        }
    }

    /// The octets of the advertisement and the scan response if no other client advertises; `nil` if the request cannot
    /// be advertised.
    package var octets: AdvertisementOctets? {
        guard error == nil else { return nil }
        let content = AdvertisementContent(self)
        return AdvertisementOctets(advertisement: content.advertisement, scanResponse: content.scanResponse)
    }
}
