/// What is kept of the attributes of a bonded peer until it comes back.
///
/// It counts only if the peer's Database Hash is the same then.
///
/// Core 6.0, Vol 3, Part G, 2.5.2 and 7.3.
package struct CachedDatabase: Equatable, Sendable {
    /// The Database Hash before anything of it was learnt, and after everything was.
    package let hash: UInt128
    package let attributes: KnownAttributes

    package init(hash: UInt128, attributes: KnownAttributes) {
        self.hash = hash
        self.attributes = attributes
    }
}
