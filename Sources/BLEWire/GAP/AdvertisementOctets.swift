/// The octets of an advertisement, and of the scan response that came with it.
///
/// Each packet has data of its own: a structure of length zero, or one that runs past the end of its packet, ends the
/// data of that packet only. ``MergedAdvertisement`` decodes them and says what they mean together. This type finds
/// single fields without decoding the rest.
///
/// Core 6.0, Vol 3, Part C, 11.
package struct AdvertisementOctets: Equatable, Sendable {
    /// The octets of the advertisement, followed by those of the scan response.
    package let all: [UInt8]
    /// The number of octets that belong to the advertisement.
    package let advertisementLength: Int

    /// Keeps the octets of two packets.
    package init(advertisement: [UInt8], scanResponse: [UInt8] = []) {
        all = scanResponse.isEmpty ? advertisement : advertisement + scanResponse
        advertisementLength = advertisement.count
    }

    /// Keeps the octets of two packets that lie one after the other; `nil` if the first is said to be longer than both.
    package init?(all: [UInt8], advertisementLength: Int) {
        guard 0...all.count ~= advertisementLength else { return nil }
        self.all = all
        self.advertisementLength = advertisementLength
    }

    package var advertisement: ArraySlice<UInt8> { all[..<advertisementLength] }
    /// The octets of the scan response; empty if there was none.
    package var scanResponse: ArraySlice<UInt8> { all[advertisementLength...] }

    /// The local name, as ``MergedAdvertisement/localName`` defines it.
    package var localName: String? { nameRange.map { AdvertisingData.name(all[$0]) } }

    /// The range in ``all`` of the octets of ``localName``, before they are cut at a zero octet.
    package var nameRange: Range<Int>? {
        let first = names(in: 0..<advertisementLength)
        if let name = first.complete { return name }
        let second = names(in: advertisementLength..<all.count)
        return second.complete ?? first.shortened ?? second.shortened
    }

    /// The range in ``all`` of the manufacturer data, if one structure contains all that there is.
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

    /// The first names of a packet that are not empty.
    private func names(in packet: Range<Int>) -> (complete: Range<Int>?, shortened: Range<Int>?) {
        let octets = all.span.extracting(packet)
        var complete: Range<Int>?, shortened: Range<Int>?, offset = 0
        while let structure = AdvertisingData.structure(at: offset, in: octets) {
            offset = structure.data.upperBound
            guard !structure.data.isEmpty, octets[structure.data.lowerBound] != 0 else { continue }
            let range = structure.data.lowerBound + packet.lowerBound..<offset + packet.lowerBound
            switch structure.type {
            case .completeLocalName: if complete == nil { complete = range }
            case .shortenedLocalName: if shortened == nil { shortened = range }
            default: break
            }
        }
        return (complete, shortened)
    }
}
