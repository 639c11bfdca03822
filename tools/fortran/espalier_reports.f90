! Predicted schedules, traces, and the fields of the report.
submodule (espalier) espalier_reports
    implicit none

contains

    module procedure predict
        prediction = espalier_prediction(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        call finish(self%handle, c_predict(self%handle, int(processes, c_int), int(threads, c_int), prediction), status)
    end procedure

    module procedure write_predicted_trace
        call finish(self%handle, c_write_predicted_trace(self%handle, c_text(path), int(processes, c_int), &
                                                         int(threads, c_int), optional_text(matrix_name)), status)
    end procedure

    module procedure write_trace
        call finish(self%handle, c_write_trace(self%handle, c_text(path), optional_text(matrix_name)), status)
    end procedure

    module procedure report_int
        number = 0
        call finish(self%handle, c_report_int(self%handle, c_text(name), number), status)
    end procedure

    module procedure report_real
        number = 0
        call finish(self%handle, c_report_real(self%handle, c_text(name), number), status)
    end procedure

    module procedure report_logical
        integer(c_int) :: number, ended
        number = 0
        ended = c_report_bool(self%handle, c_text(name), number)
        truth = number /= 0
        call finish(self%handle, ended, status)
    end procedure

    module procedure report_string
        type(c_ptr) :: found
        integer(c_int) :: ended
        found = c_null_ptr
        ended = c_report_string(self%handle, c_text(name), found)
        text = fortran_text(found)
        call finish(self%handle, ended, status)
    end procedure

    module procedure report_reals
        real(c_double), pointer :: found(:)
        type(c_ptr) :: address
        integer(c_int64_t) :: count
        integer(c_int) :: ended
        count = 0
        address = c_null_ptr
        ended = c_report_reals(self%handle, c_text(name), count, address)
        if (count > 0) then
            call c_f_pointer(address, found, [count])
            values = found
        else
            allocate (values(0))
        end if
        call finish(self%handle, ended, status)
    end procedure

    module procedure report_json
        type(c_ptr) :: found
        integer(c_int) :: ended
        found = c_null_ptr
        ended = c_report_json(self%handle, found)
        text = fortran_text(found)
        call finish(self%handle, ended, status)
    end procedure

    ! The text as a C string, empty if it is absent.
    function optional_text(text) result(converted)
        character(*), intent(in), optional :: text
        character(:), allocatable :: converted
        converted = c_null_char
        if (present(text)) converted = c_text(text)
    end function

end submodule
