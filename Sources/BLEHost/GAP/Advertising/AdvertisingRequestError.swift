package import BLEWire

/// The reason why an advertisement cannot be sent as a client describes it, and the field that is at fault.
package struct AdvertisingRequestError: Error, Equatable, Sendable {
    /// A part of an ``AdvertisingRequest``.
    package enum Field: Equatable, Sendable {
        case localName, services, serviceData, manufacturerData, statedPower
        /// The octets of a packet that the client chose itself.
        case advertisement, scanResponse
    }

    package let field: Field
    /// A part of a sentence, such as "it has 32 octets, and this packet holds at most 31".
    package let reason: String

    init(_ field: Field, _ reason: String) {
        self.field = field
        self.reason = reason
    }
}

extension AdvertisingRequest {
    /// The longest name, in octets: that of the characteristic Device Name.
    private static let nameLimit = 248
    private static let servicesLimit = 128

    /// What keeps this from being advertised; `nil` if nothing does.
    package var error: AdvertisingRequestError? {
        if let count = localName?.utf8.count, count > Self.nameLimit {
            return AdvertisingRequestError(
                .localName,
                "it has \(count) octets, but a name has at most \(Self.nameLimit)"
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

    /// The octets of the two packets that are sent if no other client advertises; `nil` if this cannot be advertised.
    package var octets: AdvertisementOctets? {
        guard error == nil else { return nil }
        let content = AdvertisementContent(self)
        return AdvertisementOctets(advertisement: content.advertisement, scanResponse: content.scanResponse)
    }
}
