public import Foundation

/// A stream of octets in both directions, beside the attributes.
///
/// No manager opens one yet: every attempt is answered with ``CBError/operationNotSupported``.
open class CBL2CAPChannel: NSObject {
    /// The device at the other end.
    open var peer: CBPeer! { nil }

    /// What the other end sends.
    open var inputStream: InputStream! { nil }

    /// What is sent to the other end.
    open var outputStream: OutputStream! { nil }

    /// The number of the service to which the channel leads.
    open var psm: CBL2CAPPSM { 0 }
}
