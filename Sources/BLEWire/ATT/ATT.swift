/// The Attribute Protocol (ATT), by which a client discovers, reads and writes the attributes of a server.
///
/// Core 6.0, Vol 3, Part F.
@usableFromInline package enum ATT {
    /// The MTU of an ATT bearer before the MTU exchange, in octets.
    ///
    /// Core 6.0, Vol 3, Part G, 5.2.1.
    @inlinable package static var defaultMTU: Int { 23 }

    /// The largest useful ATT MTU, in octets: the size of a prepare write request for a whole value of the maximum
    /// length.
    ///
    /// Core 6.0, Vol 3, Part F, 3.2.8 and 3.4.6.1.
    @inlinable package static var maximumMTU: Int { 517 }

    /// The maximum length of an attribute value, in octets.
    ///
    /// Core 6.0, Vol 3, Part F, 3.2.9.
    @inlinable package static var maximumValueLength: Int { 512 }

    /// Returns the maximum number of octets of a value that fit into a notification or indication.
    ///
    /// Core 6.0, Vol 3, Part F, 3.2.9, 3.4.7.1 and 3.4.7.2.
    @inlinable @inline(__always)
    package static func roomForValue(mtu: Int) -> Int { min(mtu - 3, maximumValueLength) }

    /// The time within which a response or confirmation must arrive.
    ///
    /// If it does not arrive in time, the bearer is closed.
    ///
    /// Core 6.0, Vol 3, Part F, 3.3.3.
    package static let transactionTimeout = Duration.nanoseconds(transactionNanoseconds)

    /// ``transactionTimeout`` in nanoseconds.
    @inlinable package static var transactionNanoseconds: Int64 { 30_000_000_000 }
}
