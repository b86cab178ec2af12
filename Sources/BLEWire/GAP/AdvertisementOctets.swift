/// The octets of an advertisement and its scan response.
///
/// The two packets contain separate data: a structure of length zero, or one that extends past the end of its packet,
/// ends only the data of that packet. ``MergedAdvertisement`` decodes both packets and merges their fields. This type
/// finds single fields without decoding the others.
///
/// Core 6.0, Vol 3, Part C, 11.
package struct AdvertisementOctets: Equatable, Sendable {
    /// The octets of the advertisement, followed by those of the scan response.
    package let all: [UInt8]
    /// The number of octets that belong to the advertisement.
    package let advertisementLength: Int

    /// Stores the octets of two packets.
    package init(advertisement: [UInt8], scanResponse: [UInt8] = []) {
        all = scanResponse.isEmpty ? advertisement : advertisement + scanResponse
        advertisementLength = advertisement.count
    }

    /// Stores the octets of two packets, one after the other in `all`; returns `nil` if `advertisementLength` is
    /// negative or greater than the length of `all`.
    package init?(all: [UInt8], advertisementLength: Int) {
        guard 0...all.count ~= advertisementLength else { return nil }
        self.all = all
        self.advertisementLength = advertisementLength
    }

    package var advertisement: ArraySlice<UInt8> { all[..<advertisementLength] }
    /// The octets of the scan response; empty if there is none.
    package var scanResponse: ArraySlice<UInt8> { all[advertisementLength...] }

    /// The local name, as ``MergedAdvertisement/localName`` defines it; `nil` if there is none.
    package var localName: String? { nameRange.map { AdvertisingData.name(all[$0]) } }

    /// The range of ``localName`` in ``all``; `nil` if there is no name.
    ///
    /// If the structure contains a zero octet, the name ends before that octet, but the range extends to the end of the
    /// structure.
    package var nameRange: Range<Int>? {
        let first = names(in: 0..<advertisementLength)
        if let name = first.complete { return name }
        guard advertisementLength < all.count else { return first.shortened }
        let second = names(in: advertisementLength..<all.count)
        return second.complete ?? first.shortened ?? second.shortened
    }

    /// The range of the manufacturer data in ``all``; `nil` unless a single structure contains all manufacturer data.
    package var manufacturerRange: Range<Int>? {
        var found: Range<Int>?
        for packet in [0..<advertisementLength, advertisementLength..<all.count] {
            let octets = all.span.extracting(packet)
            var offset = 0
            while let structure = AdvertisingData.structure(at: offset, in: octets) {
                offset = structure.data.upperBound
                guard structure.type == .manufacturerData, structure.data.count >= 2 else { continue }
                guard found == nil else { return nil }
                found = structure.data.lowerBound + packet.lowerBound..<offset + packet.lowerBound
            }
        }
        return found
    }

    /// Returns the range of the first complete name in a packet or, if there is none, of the first shortened name, as
    /// a range in ``all``.
    ///
    /// Empty names are ignored. A range is `nil` if there is no such name.
    private func names(in packet: Range<Int>) -> (complete: Range<Int>?, shortened: Range<Int>?) {
        let octets = all.span.extracting(packet)
        var shortened: Range<Int>?, offset = 0
        while let structure = AdvertisingData.structure(at: offset, in: octets) {
            offset = structure.data.upperBound
            guard structure.type == .completeLocalName || structure.type == .shortenedLocalName,
                !structure.data.isEmpty, octets[structure.data.lowerBound] != 0
            else { continue }
            let range = structure.data.lowerBound + packet.lowerBound..<offset + packet.lowerBound
            if structure.type == .completeLocalName { return (range, nil) }
            if shortened == nil { shortened = range }
        }
        return (nil, shortened)
    }
}
