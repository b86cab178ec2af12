public import Foundation

// On Apple's systems, every NSObject can be an argument for `%@`. Here, Foundation accepts some of its own classes, and
// types that name one of these as their replacement.

extension _CVarArgObject where Self: NSObject {
    /// The object that replaces this one as an argument for `%@`: its description.
    public var _cVarArgObject: any CVarArg { description as NSString }

    /// The encoding of ``_cVarArgObject`` as an argument.
    public var _cVarArgEncoding: [Int] { _cVarArgObject._cVarArgEncoding }
}

extension CBATTRequest: _CVarArgObject {}
extension CBAttribute: _CVarArgObject {}
extension CBChannelSoundingProcedureResults: _CVarArgObject {}
extension CBChannelSoundingSessionConfiguration: _CVarArgObject {}
extension CBL2CAPChannel: _CVarArgObject {}
extension CBManager: _CVarArgObject {}
extension CBPeer: _CVarArgObject {}
extension CBUUID: _CVarArgObject {}

// Also two classes of Foundation that delegates receive: errors, cast to NSError, and the RSSI, an NSNumber.
extension NSError: @retroactive _CVarArgObject {}
extension NSNumber: @retroactive _CVarArgObject {}
