import CoreBluetooth

/// What apps do with the errors that they are given.
struct ErrorHandling {
    func attempt(_ body: () throws -> Void) -> String {
        do {
            try body()
            return "fine"
        } catch CBError.connectionTimeout, CBError.peripheralDisconnected {
            return "gone"
        } catch CBATTError.insufficientAuthentication {
            return "locked"
        } catch let error as CBATTError where error.code == .readNotPermitted {
            return "forbidden"
        } catch let error as CBError {
            switch error.code {
            case .unknownDevice: return "unknown"
            case .operationCancelled, .notConnected: return "over"
            default: return "\(error.errorCode) \(error.errorUserInfo) \(error.localizedDescription)"
            }
        } catch {
            return error.localizedDescription
        }
    }

    func describe(_ error: Error?) -> String {
        guard let error = error else { return "no error" }
        if case CBError.connectionFailed = error { return "failed" }
        if (error as? CBError)?.code == .connectionLimitReached { return "full" }
        if let error = error as? CBATTError, error.code == CBATTError.Code(rawValue: 0x80) { return "the app's own" }
        let bridged = error as NSError
        return bridged.domain == CBError.errorDomain || bridged.domain == CBATTErrorDomain
            ? "\(bridged.code) \(bridged.userInfo)" : bridged.localizedDescription
    }

    func make() -> [Error] {
        [
            CBError(.unknown), CBError(.invalidHandle, userInfo: [NSLocalizedDescriptionKey: "Mine"]),
            CBATTError(.success), CBError(CBError.Code(rawValue: 13)!), NSError(domain: CBErrorDomain, code: 6),
        ]
    }

    func kinds(_ first: CBError, _ second: CBError) -> Bool {
        Set([first, second]).count == 2 && first != second && first.code == CBError.unknown
    }
}
