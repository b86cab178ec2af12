/// The Attribute Protocol: how a client finds, reads and writes the attributes of a server.
///
/// Core 6.0, Vol 3, Part F.
@usableFromInline package enum ATT {
    /// The size of the largest packet before the two ends agree on another, in octets.
    ///
    /// Core 6.0, Vol 3, Part G, 5.2.1.
    @inlinable package static var defaultMTU: Int { 23 }

    /// The size of the largest packet that has a use, in octets: a prepared write of the longest value.
    ///
    /// Core 6.0, Vol 3, Part F, 3.2.8 and 3.4.6.1.
    @inlinable package static var maximumMTU: Int { 517 }

    /// The length of the longest attribute value, in octets.
    ///
    /// Core 6.0, Vol 3, Part F, 3.2.9.
    @inlinable package static var maximumValueLength: Int { 512 }

    /// How many octets of a value fit into a notification or an indication.
    ///
    /// Core 6.0, Vol 3, Part F, 3.2.9, 3.4.7.1 and 3.4.7.2.
    @inlinable @inline(__always)
    package static func roomForValue(mtu: Int) -> Int { min(mtu - 3, maximumValueLength) }

    /// How long an answer or a confirmation may take before the bearer is given up.
    ///
    /// Core 6.0, Vol 3, Part F, 3.3.3.
    package static let transactionTimeout = Duration.nanoseconds(transactionNanoseconds)

    /// ``transactionTimeout`` as one number.
    @inlinable package static var transactionNanoseconds: Int64 { 30_000_000_000 }
}
