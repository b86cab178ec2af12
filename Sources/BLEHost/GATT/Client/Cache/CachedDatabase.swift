/// The stored attributes of a bonded peer.
///
/// They are valid on a new link only if the peer's Database Hash is still the same.
///
/// Core 6.0, Vol 3, Part G, 2.5.2 and 7.3.
package struct CachedDatabase: Equatable, Sendable {
    /// The peer's Database Hash, which was the same before and after the attributes were discovered.
    package let hash: UInt128
    package let attributes: KnownAttributes

    package init(hash: UInt128, attributes: KnownAttributes) {
        self.hash = hash
        self.attributes = attributes
    }
}
